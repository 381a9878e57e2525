/// The last lines of a file, as far back as a mark can be.
struct FileTail {
    /// A mark comes after 1 MiB and a page of records.
    private static let bytesMax: Int64 = 67_108_864

    private let bytes: [UInt8]
    private let start: Int64

    init(of file: TransferFile, size: Int64, in files: any TransferFiles) throws {
        start = max(0, size - Self.bytesMax)
        var bytes: [UInt8] = []
        while start + Int64(bytes.count) < size {
            let piece = try files.read(file, at: start + Int64(bytes.count))
            guard !piece.isEmpty else { break }
            bytes += piece
        }
        self.bytes = bytes
    }

    /// The last whole line of which something holds, and where in the file it ends, its line feed included.
    func lastLine(where holds: ([UInt8]) -> Bool) -> (line: [UInt8], end: Int64)? {
        var end = bytes.count
        while let feed = bytes[..<end].lastIndex(of: UInt8(ascii: "\n")) {
            let begin = bytes[..<feed].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            let line = Array(bytes[begin..<feed])
            if holds(line) { return (line, start + Int64(feed) + 1) }
            end = feed
        }
        return nil
    }
}
