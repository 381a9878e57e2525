import COpenSSL

/// A public key of ECDSA on P-256 (prime256v1), decoded once and used by any thread.
package final class P256PublicKey: @unchecked Sendable {
    // Unchecked: the decoded key is never changed, and OpenSSL reads it from any thread.
    let key: OpaquePointer
    /// SubjectPublicKeyInfo in DER (RFC 5480), the point uncompressed.
    package let der: [UInt8]

    /// Reads a SubjectPublicKeyInfo in PEM, as `openssl ec -pubout` writes it.
    ///
    /// - Throws: `KeyRefusal` for anything but exactly one public key on the named curve.
    package convenience init(pem: String) throws(KeyRefusal) {
        guard let block = PEM.decode(pem) else { throw .notPEM }
        guard block.label == "PUBLIC KEY" else { throw .wrongLabel }
        try self.init(der: block.bytes)
    }

    /// Reads a SubjectPublicKeyInfo in DER.
    ///
    /// - Throws: `KeyRefusal.notP256` for anything else.
    package init(der: [UInt8]) throws(KeyRefusal) {
        guard der.count == 91, der.starts(with: P256PublicKey.prefix),
            let key = lenticular_public_key_from_der(der, der.count)
        else { throw .notP256 }
        self.key = key
        self.der = der
    }

    /// Takes an uncompressed point (SEC 1 §2.3.3): 65 bytes, of which the first is 4.
    ///
    /// - Throws: `KeyRefusal.notP256` for anything else, and for a point that is not on the curve.
    package convenience init(point: [UInt8]) throws(KeyRefusal) {
        guard point.count == Self.pointBytes, point[0] == 0x04 else { throw .notP256 }
        try self.init(der: Array(Self.prefix.dropLast()) + point)
    }

    deinit { EVP_PKEY_free(key) }

    package static let pointBytes = 65

    /// The uncompressed point: 65 bytes.
    package var point: [UInt8] { Array(der.suffix(Self.pointBytes)) }

    /// SubjectPublicKeyInfo in PEM.
    package var pem: String { PEM.encode(der, label: "PUBLIC KEY") }

    /// Whether the signature is this key's over the SHA-256 of the message.
    ///
    /// - Parameter signatureDER: `ECDSA-Sig-Value` (RFC 3279 §2.2.3) in strict DER: any other
    ///   encoding of the same numbers is refused.
    package func verify(signatureDER: [UInt8], message: [UInt8]) -> Bool {
        ECDSASignature.isWellFormed(signatureDER)
            && lenticular_sha256_verify(
                key, signatureDER, signatureDER.count, message, message.count) == 1
    }

    /// Algorithm and curve, in front of an uncompressed point of 64 bytes.
    ///
    /// Comparing bytes keeps out explicit parameters, which describe a curve of the sender's own.
    private static let prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
        0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]
}
