import COpenSSL

/// Comparisons that take the same time wherever the two sides differ.
package enum ConstantTime {
    /// Whether both are the same bytes; only their lengths may show in the time.
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return left.withUnsafeBytes { left in
            right.withUnsafeBytes {
                left.isEmpty || CRYPTO_memcmp(left.baseAddress, $0.baseAddress, left.count) == 0
            }
        }
    }
}
