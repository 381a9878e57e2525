import Cryptography

/// Compares addresses that browsers are sent back to with those that were registered, and extends them.
package enum CallbackAddress {
    private static let loopbacks = ["127.0.0.1", "[::1]", "localhost"]

    /// Whether an address is the registered one; on this machine, with any port (RFC 8252 §7.3).
    static func isSame(_ given: String, as registered: String) -> Bool {
        guard WebAddress.isLegal(given) else { return false }
        if given == registered { return true }
        guard let given = loopback(given), let registered = loopback(registered) else {
            return false
        }
        return given == registered
    }

    /// The host of a loopback address with what comes behind its port; nil for any other address.
    private static func loopback(_ text: String) -> [String]? {
        guard text.hasPrefix("http://"), let url = WebURL(text), !url.hasUser, url.port != 0,
            loopbacks.contains(url.host), url.rest.first != "#"
        else { return nil }
        return [url.host, url.rest]
    }

    /// The address with further parameters in its query, before any fragment.
    package static func adding(
        _ parameters: [(name: String, value: String)], to address: String
    ) -> String {
        let parts = address.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        var text = String(parts[0])
        for (name, value) in parameters {
            text += text.contains("?") ? (text.hasSuffix("?") ? "" : "&") : "?"
            text += "\(name)=\(PercentEncoding.encode(value))"
        }
        return parts.count > 1 ? "\(text)#\(parts[1])" : text
    }

    /// What a form may be sent on to, for a page's policy: the origin, or the scheme of a program.
    package static func policySource(_ address: String) -> String? {
        guard let scheme = WebAddress.scheme(address) else { return nil }
        guard scheme == "http" || scheme == "https" else { return "\(scheme):" }
        return WebURL(address).flatMap { $0.hasUser ? nil : $0.origin }
    }
}
