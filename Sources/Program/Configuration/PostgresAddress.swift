/// Where a PostgreSQL is, as a URL says.
package struct PostgresAddress: Sendable, Equatable {
    private static let schemes = ["postgresql://", "postgres://"]
    private static let passwordNames: Set<String> = ["password", "sslpassword"]

    /// The URL itself, which has no password.
    package let url: String
    /// The names and addresses of the machines; paths are folders of sockets, and none is this machine's usual one.
    private let hosts: [String]

    /// Nil for what is none, or has a password.
    package init?(_ url: String) {
        guard let scheme = Self.schemes.first(where: { url.hasPrefix($0) }),
            url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        let rest = url.dropFirst(scheme.count)
        let (place, query) = Self.split(rest, at: "?")
        let authority = place.prefix { $0 != "/" }
        let (user, places) = Self.split(authority, atLast: "@")
        // A password behind the user's name.
        guard !user.contains(":") else { return nil }
        var hosts = places.split(separator: ",").map { Self.host(String($0)) }
        for parameter in query.split(separator: "&") {
            let (name, value) = Self.split(parameter, at: "=")
            guard !Self.passwordNames.contains(Self.decoded(name)) else { return nil }
            if ["host", "hostaddr"].contains(Self.decoded(name)) {
                hosts += Self.decoded(value).split(separator: ",").map(String.init)
            }
        }
        self.url = url
        self.hosts = hosts
    }

    /// Whether all that it names is on this machine; false where it names nothing, and the process's surroundings do.
    package var isLocal: Bool {
        !hosts.isEmpty
            && hosts.allSatisfy { host in
                host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
                    || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
            }
    }

    /// The URL without what is said of the session.
    package var place: String { String(url.prefix { $0 != "?" }) }

    /// Without its port, and an address without its brackets.
    private static func host(_ text: String) -> String {
        guard text.hasPrefix("[") else { return decoded(text.prefix { $0 != ":" }) }
        return String(text.dropFirst().prefix { $0 != "]" })
    }

    private static func split(
        _ text: Substring, at sign: Character
    ) -> (before: Substring, after: Substring) {
        guard let index = text.firstIndex(of: sign) else { return (text, "") }
        return (text[..<index], text[text.index(after: index)...])
    }

    private static func split(
        _ text: Substring, atLast sign: Character
    ) -> (before: Substring, after: Substring) {
        guard let index = text.lastIndex(of: sign) else { return ("", text) }
        return (text[..<index], text[text.index(after: index)...])
    }

    private static func decoded(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(code)
                rest.removeFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
