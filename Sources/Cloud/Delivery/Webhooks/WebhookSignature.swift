import Cryptography

/// Shows the receiver of a webhook that the request comes from this server, is unchanged, and is
/// recent.
///
/// It is in the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`.
package enum WebhookSignature {
    /// Of a key: as long as the code, so that guessing it is no easier.
    package static let keyBytes = HMACSHA256.codeBytes

    /// A key as receivers are given it.
    package static func shown(_ key: [UInt8]) -> String { "whsec_" + Base64.encode(key) }

    /// The headers of one delivery.
    ///
    /// The signature is `v1,` and the base64 of the HMAC-SHA256 over `id.timestamp.body`. While a
    /// key is being replaced, there is one signature for each key, with a space between.
    /// - Parameters:
    ///   - identifier: the same whenever the same notice is sent again.
    ///   - seconds: when it is sent, since 1970.
    /// - Returns: nil without a key, and for an identifier with a `.` or a space, by which two deliveries could have one
    ///   signature.
    package static func headers(
        identifier: String, seconds: Int64, body: [UInt8], keys: [[UInt8]]
    ) -> [(name: String, value: String)]? {
        guard !keys.isEmpty, !identifier.contains(where: { $0 == "." || $0 == " " }) else {
            return nil
        }
        let signed = Array("\(identifier).\(seconds).".utf8) + body
        let signatures = keys.map { "v1,\(Base64.encode(HMACSHA256(key: $0).code(for: signed)))" }
        return [
            ("webhook-id", identifier), ("webhook-timestamp", "\(seconds)"),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
    }
}
