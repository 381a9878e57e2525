/// Bytes that grow at their end; their memory grows before it is needed, and stays when they are forgotten.
struct GrowingBytes: Sendable {
    /// The bytes, and what follows them.
    private(set) var memory: [UInt8] = []
    private(set) var count = 0

    private static let growthMin = 65_536

    /// Appends what is written by pointer.
    ///
    /// - Parameter write: returns how many bytes it has written, `bytesMax` at most.
    mutating func append(atMost bytesMax: Int, _ write: (UnsafeMutableRawPointer) -> Int) {
        if memory.count - count < bytesMax {
            memory += repeatElement(0, count: max(memory.count, Self.growthMin, bytesMax))
        }
        let start = count
        count += memory.withUnsafeMutableBytes { buffer in
            buffer.baseAddress.map { write($0 + start) } ?? 0
        }
    }

    /// Appends an item of a block: its length, its kind and its bytes.
    mutating func append(_ kind: SegmentForm.Item, _ bytes: UnsafeRawBufferPointer) {
        append(atMost: bytes.count + SegmentForm.itemHeadBytesMax) { start in
            var cursor = LineCursor(start)
            cursor.count(bytes.count + 1)
            cursor.byte(kind.rawValue)
            cursor.raw(bytes)
            return cursor.at - start
        }
    }

    /// Writes over what is there.
    mutating func set(_ value: UInt32, at offset: Int) {
        memory.withUnsafeMutableBytes {
            $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
        }
    }

    mutating func removeAll() { count = 0 }
}
