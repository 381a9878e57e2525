import Accounts
import CloudModel
import Cryptography
import HTTP

/// A request to the operators' interface, read as far as every answer needs it.
struct ConsoleRequest: Sendable {
    private static let root = ["console", "api"]
    private static let bearer = "bearer "

    let http: HTTPRequest
    /// The address without its query.
    let path: String
    /// What follows `/console/api`; nil for another address.
    let words: [String]?
    let now: Milliseconds

    init(_ request: HTTPRequest, now: Milliseconds) {
        http = request
        self.now = now
        let path = request.target.prefix { $0 != UInt8(ascii: "?") }
        self.path = String(decoding: path, as: UTF8.self)
        words = Self.words(of: request.target)
    }

    /// What follows `/console/api` in a target; nil for another address.
    static func words(of target: [UInt8]) -> [String]? {
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        let parts = path.split(separator: UInt8(ascii: "/")).map {
            String(decoding: $0, as: UTF8.self)
        }
        return parts.starts(with: root) ? Array(parts.dropFirst(root.count)) : nil
    }

    /// The arguments of a command whose body streams, as the query has them: `arguments=` and a JSON object.
    var queryArguments: [UInt8] {
        let query = http.target.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        let name = Array("arguments=".utf8)
        for pair in query.split(separator: UInt8(ascii: "&")) where pair.starts(with: name) {
            let text = PercentEncoding.text(pair.dropFirst(name.count), plusIsSpace: true)
            return Array((text ?? "").utf8)
        }
        return []
    }

    /// The token of a script; nil for none.
    var token: String? {
        guard let header = http.headers["authorization"],
            header.prefix(Self.bearer.count).lowercased() == Self.bearer
        else { return nil }
        return String(header.dropFirst(Self.bearer.count))
    }

    /// The session's cookie; nil for none.
    var cookie: String? {
        let wanted = cookieName + "="
        for pair in (http.headers["cookie"] ?? "").split(separator: ";") {
            let pair = pair.drop { $0 == " " || $0 == "\t" }
            if pair.hasPrefix(wanted) { return String(pair.dropFirst(wanted.count)) }
        }
        return nil
    }

    /// A header field that sets the session's cookie, which no script and no page of another site's ever has.
    ///
    /// - Parameter seconds: 0 to remove it.
    func setting(cookie: String, seconds: Int) -> (name: String, value: String) {
        (
            "Set-Cookie",
            "\(cookieName)=\(cookie); Path=/; HttpOnly; SameSite=Strict; Max-Age=\(seconds)"
                + (isSecure ? "; Secure" : "")
        )
    }

    /// Where on the network it comes from; nil for a proxy that does not say.
    var client: NetworkOrigin? {
        if http.peer.isTrustedProxy, http.client == http.peer.block { return nil }
        return http.client.map { NetworkOrigin("\($0)", within: $0.wider.map { "\($0)" }) }
            ?? "this machine"
    }

    /// Whether it was sent by a program or a page of this address, with JSON, and so not by a form elsewhere.
    var isOfOwnPage: Bool {
        guard http.headers.areOfOwnPage(orByPerson: true) else { return false }
        let type = http.headers["content-type"]?.prefix { $0 != ";" }.lowercased()
        return http.body.isEmpty || type == "application/json"
    }

    /// Whether its page has shown the secret that it was given with the session.
    func shows(_ secret: String) -> Bool {
        guard let given = http.headers["x-console-page"] else { return false }
        return ConstantTime.areEqual(Array(given.utf8), Array(secret.utf8))
    }

    private var isSecure: Bool {
        http.peer.isTLS
            || http.peer.isTrustedProxy && http.headers["x-forwarded-proto"] == "https"
    }

    /// With the prefix that lets nobody else of the domain set it, where browsers come by TLS.
    private var cookieName: String { (isSecure ? "__Host-" : "") + "lenticular-console" }
}
