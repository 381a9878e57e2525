#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension UnsafeRawBufferPointer {
    /// Whether others are the same bytes, compared many at a time.
    func hasSameBytes(as others: UnsafeRawBufferPointer) -> Bool {
        guard count == others.count else { return false }
        guard let start = baseAddress, let other = others.baseAddress else { return true }
        return memcmp(start, other, count) == 0
    }
}
