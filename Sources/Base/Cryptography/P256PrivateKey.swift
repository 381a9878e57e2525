import COpenSSL

/// A private key of ECDSA on P-256 (prime256v1): what a client of the server signs with.
///
/// The server keeps such keys only to speak for itself elsewhere: to the senders of pushes.
package final class P256PrivateKey: @unchecked Sendable {
    // Unchecked: the key is never changed, and OpenSSL reads it from any thread.
    private let key: OpaquePointer

    /// Makes a key from the generator of the process.
    package init() {
        // Only an exhausted memory or a broken OpenSSL fails here, and neither can be gone on with.
        guard let key = lenticular_p256_generate() else {
            preconditionFailure("OpenSSL makes no key on prime256v1")
        }
        self.key = key
    }

    /// Reads PKCS #8 or SEC 1 in PEM, unencrypted.
    ///
    /// - Throws: `KeyRefusal` for anything but one private key on prime256v1.
    package init(pem: String) throws(KeyRefusal) {
        guard let block = PEM.decode(pem) else { throw .notPEM }
        guard block.label == "PRIVATE KEY" || block.label == "EC PRIVATE KEY" else {
            throw .wrongLabel
        }
        guard let key = lenticular_private_key_from_der(block.bytes, block.bytes.count) else {
            throw .notP256
        }
        guard lenticular_key_is_p256(key) == 1 else {
            EVP_PKEY_free(key)
            throw .notP256
        }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// PKCS #8 in PEM, which is a secret.
    package var pem: String {
        PEM.encode(der(lenticular_private_key_der), label: "PRIVATE KEY")
    }

    /// SubjectPublicKeyInfo in PEM: what is registered with the server.
    package var publicKeyPEM: String {
        PEM.encode(der(lenticular_public_key_der), label: "PUBLIC KEY")
    }

    /// The other half.
    package var publicKey: P256PublicKey {
        do throws(KeyRefusal) {
            return try P256PublicKey(der: der(lenticular_public_key_der))
        } catch {
            preconditionFailure("OpenSSL encodes no public key: \(error)")
        }
    }

    /// The secret that only this key and that one can compute (ECDH, SEC 1 §3.3.1): 32 bytes.
    ///
    /// Nil without memory.
    package func secret(with other: P256PublicKey) -> [UInt8]? {
        var secret = [UInt8](repeating: 0, count: 32)
        return lenticular_p256_agree(key, other.key, &secret) == 1 ? secret : nil
    }

    /// A signature in DER over the SHA-256 of the message.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 80) { signature, count in
            count = lenticular_p256_sign(
                key, message, message.count, signature.baseAddress, signature.count)
            precondition(count > 0, "OpenSSL signs nothing with a key of its own")
        }
    }

    private func der(
        _ encode: (OpaquePointer, UnsafeMutablePointer<UInt8>?, Int) -> Int
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 512) { der, count in
            count = encode(key, der.baseAddress, der.count)
            precondition(count > 0, "OpenSSL encodes no key of its own")
        }
    }
}
