import COpenSSL

/// A public key of RSA, which verifies signatures of PKCS #1 v1.5 over SHA-256 (`RS256`).
package final class RSAPublicKey: @unchecked Sendable {
    // Unchecked: the decoded key is never changed, and OpenSSL reads it from any thread.

    /// Of a modulus: shorter ones are broken, longer ones cost a request too much.
    package static let modulusBytes = 256...512

    private let key: OpaquePointer

    /// - Parameters:
    ///   - modulus: big-endian, from 2,048 to 4,096 bits.
    ///   - exponent: big-endian, odd, from 3 to 2^32.
    /// - Returns: nil for anything else.
    package init?(modulus: [UInt8], exponent: [UInt8]) {
        let modulus = Array(modulus.drop { $0 == 0 })
        let exponent = Array(exponent.drop { $0 == 0 })
        guard Self.modulusBytes.contains(modulus.count), modulus[0] >= 0x80,
            let last = modulus.last, last & 1 == 1, (1...4).contains(exponent.count),
            let end = exponent.last, end & 1 == 1, exponent != [1]
        else { return nil }
        let der = Self.subjectPublicKeyInfo(modulus, exponent)
        guard let key = lenticular_public_key_from_der(der, der.count) else { return nil }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// Whether the signature is this key's over the SHA-256 of the message.
    package func verify(signature: [UInt8], message: [UInt8]) -> Bool {
        lenticular_sha256_verify(
            key, signature, signature.count, message, message.count) == 1
    }

    /// `rsaEncryption` with its NULL (RFC 8017 appendix A.1), then both numbers.
    private static func subjectPublicKeyInfo(_ modulus: [UInt8], _ exponent: [UInt8]) -> [UInt8] {
        let algorithm: [UInt8] = [
            0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05,
            0x00,
        ]
        let numbers = element(0x30, number(modulus) + number(exponent))
        return element(0x30, algorithm + element(0x03, [0] + numbers))
    }

    private static func number(_ bytes: [UInt8]) -> [UInt8] {
        let isHigh = bytes.first.map { $0 >= 0x80 } ?? true
        return element(0x02, (isHigh ? [0] : []) + bytes)
    }

    /// One element of DER; its contents are of less than 64 KiB here.
    private static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        switch contents.count {
        case ..<0x80: [tag, UInt8(contents.count)] + contents
        case ..<0x100: [tag, 0x81, UInt8(contents.count)] + contents
        default:
            [
                tag, 0x82, UInt8(truncatingIfNeeded: contents.count >> 8),
                UInt8(truncatingIfNeeded: contents.count),
            ] + contents
        }
    }
}
