import COpenSSL

/// HMAC-SHA1 (RFC 2104), for what prescribes it: the codes of authenticator apps (RFC 6238).
///
/// Nothing of our own uses it.
package enum HMACSHA1 {
    package static let codeBytes = 20

    /// The message's code: 20 bytes.
    package static func code(for message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: codeBytes)
        let isMade = lenticular_hmac_sha1(key, key.count, message, message.count, &code)
        precondition(isMade == 1, "OpenSSL makes no HMAC-SHA1")
        return code
    }
}
