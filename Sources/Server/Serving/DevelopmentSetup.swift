import CloudModel
import Cryptography
import Network

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What `serve --dev` makes in an empty data folder, so that the first request is one paste away.
struct DevelopmentSetup {
    static let container = "iCloud.dev.lenticular.Notes"
    static let emails = ["alice@example.com", "bob@example.com"]
    /// A year, so that what was printed once still works months later.
    private static let tokenSeconds = 31_536_000
    /// The server key's private half, in the data folder.
    static let privateKeyName = "development-server-key.pem"

    let folder: DataFolder
    let address: ListenAddress

    /// Makes everything and says how to use it; nil when the folder holds containers already.
    ///
    /// - Throws: what the catalog and the file system report.
    func make() throws -> String? {
        guard try folder.containers.list().isEmpty else { return nil }
        let now = folder.clock.now()
        let container = try folder.containers.create(Self.container, now: now).id
        let apiToken = try folder.apiTokens.create(
            container: container, environment: .development, name: "development", now: now)
        var users: [(email: String, token: String, name: String)] = []
        for (email, names) in zip(Self.emails, [("Alice", "Archer"), ("Bob", "Baker")]) {
            _ = try folder.users.create(
                email: email, givenName: names.0, familyName: names.1, now: now)
            let token = try folder.webTokens.create(
                container: container, environment: .development, email: email,
                seconds: Self.tokenSeconds, now: now)
            users.append((email, token.token, token.userRecordName.text))
        }
        let privateKey = P256PrivateKey()
        let keyPath = "\(folder.path)/\(Self.privateKeyName)"
        try FileSystem.write(Array(privateKey.pem.utf8), toNew: keyPath)
        let key = try folder.serverKeys.add(
            container: container, environment: .development,
            publicKeyPEM: privateKey.publicKeyPEM, name: "development", now: now)
        return text(apiToken: apiToken.token, users: users, keyID: key.keyID, keyPath: keyPath)
    }

    /// Refuses addresses that others could reach: everything made here is printed on the terminal.
    ///
    /// - Throws: `CommandFailure` that names the address.
    static func checkIsLocal(
        _ addresses: [ListenAddress], environment: [String: String]
    ) throws(CommandFailure) {
        guard environment["LENTICULAR_CONTAINER"] != "1" else { return }
        for address in addresses where !isLocal(address) {
            throw CommandFailure(
                "--dev listens on this machine only, not at \(address); use 127.0.0.1 or [::1]")
        }
    }

    private static func isLocal(_ address: ListenAddress) -> Bool {
        switch address {
        case .unix: true
        case .tcp(let host, _): host == "localhost" || host == "::1" || isLoopback(host)
        }
    }

    private static func isLoopback(_ host: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, host, &address) == 1
            && UInt32(bigEndian: address.s_addr) >> 24 == 127
    }

    private func text(
        apiToken: String, users: [(email: String, token: String, name: String)], keyID: String,
        keyPath: String
    ) -> String {
        var lines = [
            "A container to try out, in the environment \"development\" (shown this once):", "",
            "  container   \(Self.container)", "  API token   \(apiToken)",
        ]
        for user in users {
            lines += [
                "  user        \(user.email), \(user.name)", "  web token   \(user.token)",
            ]
        }
        lines += [
            "  server key  \(keyID)", "              private half in \(keyPath)", "",
            "A first record:", "", "  \(firstRequest(apiToken: apiToken, token: users[0].token))",
            "",
        ]
        return lines.joined(separator: "\n")
    }

    /// A command to paste that saves a record in the first user's private database.
    private func firstRequest(apiToken: String, token: String) -> String {
        let (option, origin) =
            switch address {
            case .unix(let path): ("--unix-socket '\(path)' ", "http://localhost")
            case .tcp(let host, let port):
                folder.configuration.hasTLS
                    ? ("--insecure ", "https://\(HealthProbe.reachable(host, port: port))")
                    : ("", "http://\(HealthProbe.reachable(host, port: port))")
            }
        let path = "/database/1/\(Self.container)/development/private/records/modify"
        let body =
            #"{"operations":[{"operationType":"create","record":{"recordType":"Note","#
            + #""fields":{"title":{"value":"Hello"}}}}]}"#
        return "curl \(option)'\(origin)\(path)?ckAPIToken=\(apiToken)&ckWebAuthToken=\(token)'"
            + " -d '\(body)'"
    }
}
