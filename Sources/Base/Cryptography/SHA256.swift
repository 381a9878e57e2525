import COpenSSL

/// SHA-256 (FIPS 180-4), over bytes at hand or as they come.
package struct SHA256: Sendable {
    package static let digestBytes = 32

    private var context = SHA256_CTX()

    package init() { SHA256_Init(&context) }

    /// Adds bytes to what is digested.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        SHA256_Update(&context, bytes.baseAddress, bytes.count)
    }

    /// Adds bytes to what is digested.
    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// The 32 bytes for all that was added so far; more may be added afterwards.
    package func digest() -> [UInt8] {
        var copy = context
        return [UInt8](unsafeUninitializedCapacity: SHA256.digestBytes) { bytes, count in
            SHA256_Final(bytes.baseAddress, &copy)
            count = SHA256.digestBytes
        }
    }

    /// The 32 bytes for one piece of bytes.
    package static func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes)
        return hash.digest()
    }

    /// The 32 bytes for one piece of bytes.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { digest($0) }
    }
}
