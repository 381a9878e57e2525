import Network

/// A body that is sent in pieces, and is never whole in memory.
///
/// Its parts are stretches of files, bytes at hand, and bytes that are made on the way.
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
    /// The client that asked for it; nil for the peer of the connection.
    package let client: AddressBlock?

    package init(_ parts: [Part], for client: AddressBlock? = nil) {
        self.client = client
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
    /// Looks at each stretch just before it is sent; nil where nothing is known of the bytes.
    package let check: (any StretchCheck)?

    package init(
        descriptor: Int32, owner: any AnyObject & Sendable, offset: Int, count: Int,
        check: (any StretchCheck)? = nil
    ) {
        self.check = check
        self.descriptor = descriptor
        self.owner = owner
        self.offset = offset
        self.count = count
    }
}

/// Says whether stretches of a file are what they should be.
package protocol StretchCheck: Sendable {
    /// The file is looked at in parts of so many bytes, from its beginning on.
    var partBytes: Int { get }
    /// How long the file is.
    var fileBytes: Int { get }

    /// Reads the parts that a stretch touches, unless it has just done so. False ends the
    /// connection in the middle of the answer.
    ///
    /// Called on an event loop when those parts are in memory, else on a worker thread. Reports by itself
    /// what it finds.
    func isSound(_ stretch: Range<Int>) -> Bool
}

extension StretchCheck {
    /// All that is read of the file to check a stretch.
    func reach(of stretch: Range<Int>) -> Range<Int> {
        let end = (stretch.upperBound + partBytes - 1) / partBytes * partBytes
        return stretch.lowerBound / partBytes
            * partBytes..<max(
                stretch.upperBound, min(end, fileBytes))
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
