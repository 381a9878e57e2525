import Cryptography

/// A browser's subscription to pushes: where they go, and what they are sealed for (RFC 8291 §2).
package struct WebPushSubscription: Sendable {
    package static let secretBytes = 16

    /// Of the push service; names the browser.
    package let endpoint: String
    let key: P256PublicKey
    let secret: [UInt8]

    /// - Parameters:
    ///   - key: `p256dh`, base64url of a point of 65 bytes.
    ///   - secret: `auth`, base64url of 16 bytes.
    /// - Returns: nil when one of them is not that. The endpoint is for the caller to check.
    package init?(endpoint: String, key: String, secret: String) {
        // Browsers leave the padding away; some libraries do not.
        guard let point = Base64.decode(Self.unpadded(key), .urlSafe),
            let bytes = Base64.decode(Self.unpadded(secret), .urlSafe),
            bytes.count == Self.secretBytes
        else { return nil }
        do throws(KeyRefusal) { self.key = try P256PublicKey(point: point) } catch { return nil }
        self.endpoint = endpoint
        self.secret = bytes
    }

    private static func unpadded(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        while bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
        return bytes
    }
}

/// A message to a browser, sealed so that the push service cannot read it (RFC 8291, in the content
/// coding `aes128gcm` of RFC 8188).
package enum WebPushMessage {
    /// Of the plain text: what one record of 4,096 bytes holds, which push services take (RFC 8291 §4).
    package static let bytesMax = recordBytes - headBytes - 1 - AES256GCM.tagBytes

    private static let recordBytes = 4_096
    private static let saltBytes = 16
    /// Salt, record size, and the sender's key with its length.
    private static let headBytes = saltBytes + 4 + 1 + P256PublicKey.pointBytes

    /// The body of the request, whose `Content-Encoding` is `aes128gcm`.
    ///
    /// - Returns: nil for a text over `bytesMax`.
    package static func seal(
        _ text: [UInt8], for subscription: WebPushSubscription, random: RandomSource
    ) -> [UInt8]? {
        seal(
            text, for: subscription, salt: random.bytes(saltBytes), sender: P256PrivateKey())
    }

    /// - Parameters:
    ///   - salt: 16 random bytes.
    ///   - sender: a key that serves for this message alone.
    static func seal(
        _ text: [UInt8], for subscription: WebPushSubscription, salt: [UInt8],
        sender: P256PrivateKey
    ) -> [UInt8]? {
        let point = sender.publicKey.point
        guard text.count <= bytesMax, let agreed = sender.secret(with: subscription.key) else {
            return nil
        }
        // RFC 8291 §3.4.
        let root = HKDF.key(
            from: agreed, salt: subscription.secret,
            info: Array("WebPush: info\u{0}".utf8) + subscription.key.point + point, bytes: 32)
        // RFC 8188 §2.2 and §2.3; the first record's number changes nothing of the nonce.
        let key = HKDF.key(
            from: root, salt: salt, info: Array("Content-Encoding: aes128gcm\u{0}".utf8),
            bytes: AES128GCM.keyBytes)
        let nonce = HKDF.key(
            from: root, salt: salt, info: Array("Content-Encoding: nonce\u{0}".utf8),
            bytes: AES256GCM.nonceBytes)
        // 2 marks the last record's end.
        guard let sealed = AES128GCM(key: key)?.seal(text + [2], nonce: nonce) else { return nil }
        let size = (0..<4).map { UInt8(truncatingIfNeeded: recordBytes >> (24 - 8 * $0)) }
        return salt + size + [UInt8(point.count)] + point + sealed
    }
}
