/// A body that is compressed once and sent often.
package enum StoredGzip {
    /// The body as one gzip stream, as small as zlib makes it.
    ///
    /// - Returns: nil where zlib fails, or where that would not be smaller.
    package static func bytes(of body: [UInt8]) -> [UInt8]? {
        let deflater = Deflater(.most)
        var isWhole = false
        let bytes = [UInt8](unsafeUninitializedCapacity: deflater.outputBytesMax(body.count)) {
            storage, initialized in
            let count = body.withUnsafeBytes {
                deflater.deflate($0, isLast: true, into: UnsafeMutableRawBufferPointer(storage))
            }
            isWhole = count != nil
            initialized = count ?? 0
        }
        return isWhole && bytes.count < body.count ? bytes : nil
    }
}
