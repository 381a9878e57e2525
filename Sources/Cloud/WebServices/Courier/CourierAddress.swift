import Accounts
import CloudModel
import Cryptography

/// Where a device waits for its notices, read from a request's target.
///
/// `/courier/1/{container}/{environment}?tok={token}`; the token is as good as a signature.
struct CourierAddress {
    let container: ContainerID
    let environment: Environment
    let token: [UInt8]

    /// The key by which the destination is found.
    var key: [UInt8] { Self.key(of: token) }

    private static let prefix = Array("/courier/1/".utf8)

    /// Whether a target is one of the courier, by its beginning.
    static func isBelow(_ target: [UInt8]) -> Bool {
        target.count > prefix.count && target[2] == prefix[2] && target.starts(with: prefix)
    }

    /// The key by which a token's destination is found.
    static func key(of token: [UInt8]) -> [UInt8] { SHA256.digest(token) }

    /// The URL at which a client waits for a token's notices.
    static func url(
        _ container: ContainerID, _ environment: Environment, token: [UInt8], below base: String
    ) -> String {
        "\(base)/courier/1/\(container.name)/\(environment.rawValue)"
            + "?tok=\(Hexadecimal.encode(token))"
    }

    /// Reads an address; nil when the server never made it.
    init?(_ query: QueryString) {
        let path = query.target.prefix { $0 != UInt8(ascii: "?") }
        let segments = path.dropFirst(Self.prefix.count).split(
            separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
        guard Self.isBelow(query.target), segments.count == 2,
            let container = PercentEncoding.text(segments[0]).flatMap({ ContainerID($0) }),
            let environment = PercentEncoding.text(segments[1]).flatMap({
                Environment(rawValue: $0)
            }),
            let token = query.text("tok").flatMap({ Hexadecimal.decode($0) }),
            token.count == CourierTokens.bytes
        else { return nil }
        self.container = container
        self.environment = environment
        self.token = token
    }
}
