import Accounts
import Administration
import CloudModel
import Configuration
import Control
import Cryptography
import Files
import Network
import Storage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What `serve --dev` makes in an empty data folder, so that the first sync is three pastes away.
package struct DevelopmentSetup {
    static let container = "iCloud.dev.lenticular.Notes"
    static let emails = ["alice@example.com", "bob@example.com"]
    /// A year, so that what was printed once still works months later.
    private static let tokenSeconds = 31_536_000
    /// The server key's private half, in the data folder.
    static let privateKeyName = "development-server-key.pem"

    private static let passwordBytes = 8

    private struct User {
        let email: String
        let password: String
        let token: String
        let name: String
    }

    let folder: DataFolder
    let administrator: Administrator
    let address: ListenAddress
    /// How a shell starts this program.
    let program: String

    package init(
        folder: DataFolder, administrator: Administrator, address: ListenAddress, program: String
    ) {
        self.folder = folder
        self.administrator = administrator
        self.address = address
        self.program = program
    }

    /// Prints the letters and text messages that no server is configured for.
    package static func printLetters(_ configuration: inout ServerConfiguration) {
        if configuration.mail.sender == .none { configuration.mail.sender = .log }
        if configuration.textMessages.sender == .none { configuration.textMessages.sender = .log }
    }

    /// Makes everything and says how to use it; nil when the folder holds containers already.
    ///
    /// - Throws: what the catalog and the file system report.
    package func make() throws -> String? {
        let containers = try administrator.perform(ListContainers(ListRequest(limit: 1)))
        guard containers.items.isEmpty else { return nil }
        let target = NamedEnvironment(
            try administrator.perform(CreateContainer(Self.container)).id.name, .development)
        _ = try administrator.perform(
            ChangeContainer(Self.container, settings: [ContainerSetting.name.rawValue: "Notes"]))
        let apiToken = try administrator.perform(CreateAPIToken(in: target, name: "development"))
        var users: [User] = []
        for (email, names) in zip(Self.emails, [("Alice", "Archer"), ("Bob", "Baker")]) {
            let password = Hexadecimal.encode(folder.random.bytes(Self.passwordBytes))
            _ = try administrator.perform(
                CreateAccount(
                    email: email, givenName: names.0, familyName: names.1,
                    password: Array(password.utf8)))
            let token = try administrator.perform(
                CreateWebToken(in: target, email: email, seconds: Self.tokenSeconds))
            users.append(
                User(
                    email: email, password: password, token: token.token,
                    name: token.userRecordName.text))
        }
        let privateKey = P256PrivateKey()
        let keyPath = "\(folder.path)/\(Self.privateKeyName)"
        try FileSystem.write(Array(privateKey.pem.utf8), toNew: keyPath)
        let key = try administrator.perform(
            AddServerKey(
                in: target, publicKeyPEM: privateKey.publicKeyPEM, name: "development"))
        return text(apiToken: apiToken.token, users: users, keyID: key.keyID, keyPath: keyPath)
    }

    /// Refuses addresses that others could reach: everything made here is printed on the terminal.
    ///
    /// - Throws: `CommandFailure` that names the address.
    package static func checkIsLocal(
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
        apiToken: String, users: [User], keyID: String, keyPath: String
    ) -> String {
        var lines = [
            "A container to try out, in the environment \"development\" (shown this once):", "",
            "  container   \(Self.container)", "  API token   \(apiToken)",
        ]
        for user in users {
            lines += [
                "  user        \(user.email), \(user.name)", "  password    \(user.password)",
                "  web token   \(user.token)",
            ]
        }
        lines += [
            "  server key  \(keyID)", "              private half in \(keyPath)", "",
            "Sign in as one of them in a browser: \(reachedURL)/sign-in", "",
            "Three commands to paste: make a zone, save a note in it, ask what has changed there.",
            "",
        ]
        lines += firstRequests(apiToken: apiToken, token: users[0].token).map { "  \($0)" } + [""]
        lines += ["A web page loads the JavaScript client by one of these:", ""]
        lines += ClientFiles.elements(baseURL: reachedURL).map { "  \($0)" } + [""]
        return lines.joined(separator: "\n")
    }

    /// Where programs on this machine reach the server.
    private var reachedURL: String {
        switch address {
        case .unix: folder.configuration.baseURL
        case .tcp(let host, let port):
            "\(folder.configuration.hasTLS ? "https" : "http")://"
                + HealthProbe.reachable(host, port: port)
        }
    }

    /// What to read where everything was made before: secrets are kept nowhere to be shown again.
    package func reminder() -> String {
        let target = "\(Self.container) development"
        let data = "--data \(FolderAccess.quoted(folder.path))"
        return [
            "The data folder \(folder.path) holds containers already: nothing was made.",
            "Tokens are shown once; these commands make others while the server runs:", "",
            "  \(program) api-token create \(target) \(data)",
            "  \(program) web-token create \(target) \(Self.emails[0]) "
                + "--expires \(Self.tokenSeconds) \(data)", "",
        ].joined(separator: "\n")
    }

    /// Commands to paste, by which the first user's private database gets a zone with a record and shows
    /// it as a change.
    private func firstRequests(apiToken: String, token: String) -> [String] {
        let (option, origin) =
            switch address {
            case .unix(let path): ("--unix-socket '\(path)' ", "http://localhost")
            case .tcp(let host, let port):
                folder.configuration.hasTLS
                    ? ("--insecure ", "https://\(HealthProbe.reachable(host, port: port))")
                    : ("", "http://\(HealthProbe.reachable(host, port: port))")
            }
        let database = "\(origin)/database/1/\(Self.container)/development/private"
        return Self.requests.map { endpoint, body in
            "curl \(option)'\(database)/\(endpoint)?ckAPIToken=\(apiToken)&ckWebAuthToken=\(token)'"
                + " -d '\(body)'"
        }
    }

    private static let requests = [
        (
            "zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Notes"}}}]}"#
        ),
        (
            "records/modify",
            #"{"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create","record":"#
                + #"{"recordType":"Note","fields":{"title":{"value":"Hello"}}}}]}"#
        ),
        ("changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#),
    ]
}
