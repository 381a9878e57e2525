import Foundation

#if !os(Linux)
    import CryptoKit
#endif

/// AES-256-GCM and scrypt, by the system's libraries.
public enum SealedBytes {
    /// Bytes of a key.
    public static let keyBytes = 32
    private static let nonceBytes = 12
    private static let tagBytes = 16

    /// Nothing can be made of the bytes with this key and these associated data.
    public struct Unreadable: Error {
        package init() {}
    }

    /// Random bytes that nobody can guess.
    public static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// Encrypts bytes under a new nonce.
    ///
    /// - Parameter associated: what the bytes belong to: they open with nothing else.
    /// - Returns: nonce, ciphertext and tag.
    public static func seal(
        _ bytes: [UInt8], key: [UInt8], associated: [UInt8]
    ) throws -> [UInt8] {
        let nonce = random(nonceBytes)
        #if !os(Linux)
            let box = try AES.GCM.seal(
                bytes, using: SymmetricKey(data: key), nonce: AES.GCM.Nonce(data: nonce),
                authenticating: associated)
            return nonce + Array(box.ciphertext) + Array(box.tag)
        #else
            let (text, tag) = try GCM.run(
                bytes, key: key, nonce: nonce, associated: associated, tag: nil)
            return nonce + text + tag
        #endif
    }

    /// Decrypts what `seal` has made.
    ///
    /// - Throws: `Unreadable` for anything else, and for another key.
    public static func open(
        _ sealed: [UInt8], key: [UInt8], associated: [UInt8]
    ) throws -> [UInt8] {
        guard sealed.count >= nonceBytes + tagBytes, key.count == keyBytes else {
            throw Unreadable()
        }
        let nonce = Array(sealed[..<nonceBytes])
        let text = Array(sealed[nonceBytes..<(sealed.count - tagBytes)])
        let tag = Array(sealed.suffix(tagBytes))
        #if !os(Linux)
            do {
                let box = try AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: nonce), ciphertext: text, tag: tag)
                return Array(
                    try AES.GCM.open(
                        box, using: SymmetricKey(data: key), authenticating: associated))
            } catch {
                throw Unreadable()
            }
        #else
            return try GCM.run(
                text, key: key, nonce: nonce, associated: associated, tag: tag
            ).text
        #endif
    }

    /// A key from a passphrase, slow to guess.
    ///
    /// - Parameter cost: a power of two; 2^17 takes about half a second and 128 MiB.
    /// - Throws: `Unreadable` where there is no room for it.
    public static func key(
        from passphrase: String, salt: [UInt8], cost: UInt64
    ) throws -> [UInt8] {
        let text = Array(passphrase.precomposedStringWithCompatibilityMapping.utf8)
        #if !os(Linux)
            return Scrypt.key(from: text, salt: salt, cost: Int(cost), count: keyBytes)
        #else
            var key = [UInt8](repeating: 0, count: keyBytes)
            let memory = UInt64(2) * 128 * 8 * cost
            let isMade = text.withUnsafeBytes { text in
                EVP_PBE_scrypt(
                    text.baseAddress?.assumingMemoryBound(to: CChar.self), text.count, salt,
                    salt.count, cost, 8, 1, memory, &key, key.count)
            }
            guard isMade == 1 else { throw Unreadable() }
            return key
        #endif
    }
}

#if os(Linux)
    /// AES-256-GCM by OpenSSL.
    private enum GCM {
        /// - Parameter tag: to check when decrypting; nil encrypts.
        static func run(
            _ input: [UInt8], key: [UInt8], nonce: [UInt8], associated: [UInt8], tag: [UInt8]?
        ) throws -> (text: [UInt8], tag: [UInt8]) {
            guard let context = EVP_CIPHER_CTX_new() else { throw SealedBytes.Unreadable() }
            defer { EVP_CIPHER_CTX_free(context) }
            let direction: Int32 = tag == nil ? 1 : 0
            var output = [UInt8](repeating: 0, count: input.count + 16)
            var written: Int32 = 0
            var rest: Int32 = 0
            var made = [UInt8](repeating: 0, count: 16)
            try check(
                EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce, direction))
            try check(
                EVP_CipherUpdate(context, nil, &written, associated, Int32(associated.count)))
            try check(EVP_CipherUpdate(context, &output, &written, input, Int32(input.count)))
            if var tag {
                try check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, 16, &tag))
            }
            try check(EVP_CipherFinal_ex(context, &made, &rest))
            if tag == nil {
                try check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, 16, &made))
            }
            return (Array(output.prefix(Int(written))), made)
        }

        private static func check(_ result: Int32) throws {
            if result != 1 { throw SealedBytes.Unreadable() }
        }
    }
#endif
