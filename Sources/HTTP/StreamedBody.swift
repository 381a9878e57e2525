/// A body that is sent in pieces, none of it whole in memory: stretches of files, bytes at hand, and
/// bytes that are made on the way.
package struct StreamedBody: Sendable {
    package enum Part: Sendable {
        case bytes([UInt8])
        case file(FileSlice)
        case made(any ByteMaker, offset: Int, count: Int)

        var byteCount: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .file(let slice): slice.count
            case .made(_, _, let count): count
            }
        }
    }

    package let parts: [Part]
    package let byteCount: Int

    package init(_ parts: [Part]) {
        self.parts = parts.filter { $0.byteCount > 0 }
        byteCount = parts.reduce(0) { $0 + $1.byteCount }
    }
}

/// A stretch of an open file.
package struct FileSlice: Sendable {
    package let descriptor: Int32
    /// Keeps the descriptor open as long as it lives.
    package let owner: any AnyObject & Sendable
    package let offset: Int
    package let count: Int

    package init(
        descriptor: Int32, owner: any AnyObject & Sendable, offset: Int, count: Int
    ) {
        self.descriptor = descriptor
        self.owner = owner
        self.offset = offset
        self.count = count
    }
}

/// Makes bytes of a body when they are to be sent, such as by decrypting a file.
package protocol ByteMaker: Sendable {
    /// From 1 to `count` bytes from an offset on.
    ///
    /// Called on a worker thread; may block. What it throws ends the connection in the middle of the
    /// answer, by which the client knows that bytes are missing.
    func bytes(at offset: Int, count: Int) throws -> [UInt8]
}
