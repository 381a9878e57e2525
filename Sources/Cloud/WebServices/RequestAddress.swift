import CloudModel
import Cryptography

/// Where a request goes, read from its path (web-services.md §1.1).
///
/// `/{database|device}/1/{container}/{environment}/[{public|private|shared}/]{operation}`, and
/// `/accounts/1/{container}/{environment}/{operation}`.
struct RequestAddress: Sendable {
    let container: ContainerID
    let environment: Environment
    /// Nil for paths without a database segment.
    let database: DatabaseScope?
    /// Such as `records/modify`; begins with `accounts/` below that module, and nowhere else.
    let operation: String

    /// Reads the part of a target before its query; nil when it is no path of the protocol.
    init?(path: ArraySlice<UInt8>) {
        var segments = path.split(
            separator: UInt8(ascii: "/"), maxSplits: 8, omittingEmptySubsequences: false)[...]
        // The path starts with a slash, so the first segment is empty.
        guard segments.count >= 6, segments.removeFirst().isEmpty else { return nil }
        let module = segments.removeFirst()
        let isOfAccounts = module.elementsEqual("accounts".utf8)
        guard
            isOfAccounts || module.elementsEqual("database".utf8)
                || module.elementsEqual("device".utf8),
            segments.removeFirst().elementsEqual("1".utf8),
            let container = PercentEncoding.text(segments.removeFirst()).flatMap({ ContainerID($0) }
            ),
            let environment = PercentEncoding.text(segments.removeFirst()).flatMap({
                Environment(rawValue: $0)
            })
        else { return nil }
        let scope = segments.first.flatMap { PercentEncoding.text($0) }.flatMap {
            DatabaseScope(rawValue: $0)
        }
        if scope != nil { segments.removeFirst() }
        guard !segments.isEmpty else { return nil }
        self.container = container
        self.environment = environment
        self.database = scope
        let end = segments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
        guard isOfAccounts ? scope == nil : !end.hasPrefix("accounts/") else { return nil }
        operation = isOfAccounts ? "accounts/\(end)" : end
    }

    /// As the log names a poll of the courier and a request for an asset; it has no database.
    init(_ container: ContainerID, _ environment: Environment) {
        self.container = container
        self.environment = environment
        database = nil
        operation = ""
    }
}
