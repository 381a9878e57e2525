#if !os(Linux)
    import CryptoKit
#endif

/// SHA-256, by the system's library.
public enum SHA256Digest {
    /// The digest, 32 bytes.
    public static func of(_ bytes: [UInt8]) -> [UInt8] {
        #if !os(Linux)
            return Array(SHA256.hash(data: bytes))
        #else
            var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
            _ = SHA256(bytes, bytes.count, &digest)
            return digest
        #endif
    }
}
