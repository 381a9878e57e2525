import Accounts
import Administration
import CloudModel
import Control
import Cryptography

extension Command {
    /// Takes a database of CloudKit over.
    static func importFromCloudKit(
        _ invocation: Invocation, by administrator: Administrator, by files: any CallerFiles
    ) throws -> CommandOutput {
        guard invocation.value("from") == "cloudkit" else {
            throw invocation.misuse("--from takes cloudkit")
        }
        let saving = try importOptions(invocation, files)
        guard saving.canResume, saving.format == .jsonl else {
            throw invocation.misuse("--from goes through a FILE of lines, which is made on the way")
        }
        let target = try invocation.containerAndEnvironment()
        var options = ImportFromCloudKit.Options(saving: saving)
        options.schema = invocation.contents("schema-file")
        options.skipsUnreadable = invocation.has("skip-unreadable")
        guard !saving.withSchema || options.schema != nil else {
            throw invocation.misuse("--schema needs --schema-file, as CloudKit tells no schema")
        }
        let source = CloudKitSource(
            host: try invocation.sourceHost(),
            container: invocation.value("source-container") ?? target.container,
            environment: invocation.value("source-environment") ?? target.environment.rawValue,
            credential: try invocation.sourceCredential())
        let report = try administrator.perform(
            ImportFromCloudKit(
                from: source, invocation.transferTarget(), options,
                by: TypedFiles(files, isStandard: false)))
        return described(report)
    }

    private static func described(_ report: ImportFromCloudKit.Report) -> CommandOutput {
        var output = described(report.imported)
        let counts = report.counts.map { "\($0.type): \($0.read) read, \($0.saved) saved" }
        output.text = (counts + [output.text]).joined(separator: "\n")
        output.values.append(
            (
                "types",
                .objects(
                    report.counts.map {
                        [
                            ("type", .text($0.type)), ("read", .number(Int64($0.read))),
                            ("saved", .number(Int64($0.saved))),
                        ]
                    })
            ))
        return output
    }
}

extension CommandOption {
    /// Where records are taken over from.
    static let source = [
        CommandOption("from", value: "cloudkit", "read a database of CloudKit, by Web Services"),
        CommandOption(
            "host", value: "URL", "where Web Services answer; else \(CloudKitSource.host)"),
        CommandOption("source-container", value: "ID", "the container there, if it has another ID"),
        CommandOption(
            "source-environment", value: "E", "development or production there, if it is another"),
        CommandOption("key-id", value: "ID", "of a server-to-server key, for the public database"),
        CommandOption(
            "key-file", value: "PEM", "the private half of the key; - for standard input",
            kind: .contents),
        CommandOption("api-token", value: "TOKEN", "of the container, for a private database"),
        CommandOption(
            "web-token-file", value: "TOKEN-FILE",
            "a file with a web token of the user there; - for standard input", kind: .contents),
        CommandOption(
            "schema-file", value: "SCHEMA", "what cktool export-schema has written",
            kind: .contents),
        CommandOption(
            "skip-unreadable", "leave out types that cannot be asked for, instead of refusing"),
    ]
}

extension Invocation {
    fileprivate func sourceHost() throws -> String {
        var host = value("host") ?? CloudKitSource.host
        while host.hasSuffix("/") { host.removeLast() }
        guard let url = WebURL(host), url.isHTTP, !url.hasUser, url.rest.isEmpty else {
            throw misuse("--host takes https:// and a name, without a path")
        }
        return host
    }

    fileprivate func sourceCredential() throws -> CloudKitSource.Credential {
        let key = contents("key-file").map { String(decoding: $0, as: UTF8.self) }
        let token = contents("web-token-file").map { bytes in
            String(decoding: bytes.filter { $0 > 0x20 && $0 < 0x7F }, as: UTF8.self)
        }
        switch (value("key-id"), key, value("api-token"), token) {
        case (let id?, let pem?, nil, nil):
            // OpenSSL may have written the curve's name before it.
            let start = pem.firstRange(of: "-----BEGIN EC PRIVATE KEY")?.lowerBound
            do throws(KeyRefusal) {
                let key = try P256PrivateKey(pem: String(pem[(start ?? pem.startIndex)...]))
                return .serverKey(id: id, key)
            } catch {
                throw CommandFailure(
                    "--key-file takes one private key on prime256v1 in PEM, not encrypted")
            }
        case (nil, nil, let apiToken?, let token?):
            return .webToken(apiToken: apiToken, webToken: token)
        default:
            throw misuse(
                "--from takes either --key-id and --key-file, or --api-token and --web-token-file")
        }
    }
}
