import Cryptography
import Identity

/// How the server identifies itself to push services (VAPID, RFC 8292), always with the same key.
package struct PushIdentification: Sendable {
    /// RFC 8292 §2 allows a day.
    private static let lifeSeconds: Int64 = 43_200

    private let key: P256PrivateKey
    /// The contact that the push service may write to.
    private let contact: String?

    /// - Parameter contact: a `mailto:` or `https:` address; nil where nobody is named.
    package init(key: P256PrivateKey, contact: String?) {
        self.key = key
        self.contact = contact
    }

    /// What a page hands to the browser when it subscribes: base64url of the key's point.
    package var publicKey: String { Base64.encode(key.publicKey.point, .urlSafe) }

    /// The `Authorization` header towards a push service; good for half a day.
    ///
    /// - Parameters:
    ///   - origin: of the subscription's endpoint, such as `https://push.example.net`.
    ///   - seconds: now, since 1970.
    package func authorization(toward origin: String, seconds: Int64) -> String {
        var claims: [(name: String, value: SignedToken.Claim)] = [
            ("aud", .text(origin)), ("exp", .number(seconds + Self.lifeSeconds)),
        ]
        if let contact { claims.append(("sub", .text(contact))) }
        let token = SignedToken.make(claims, type: "JWT", key: key)
        return "vapid t=\(token), k=\(publicKey)"
    }
}
