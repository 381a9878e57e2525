import Platform

/// Bytes on their way out, in one growing buffer that is used again for every answer of a loop.
///
/// On its loop's thread only.
final class OutputBuffer {
    private var storage: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        storage = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { storage.deallocate() }

    /// The bytes from a position to the end, until the next change.
    func bytes(from start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: storage + start, count: count - start)
    }

    func truncate(to newCount: Int) {
        count = newCount
    }

    @inline(__always)
    func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        memcpy(storage + count, source, bytes.count)
        count += bytes.count
    }

    @inline(__always)
    func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    @inline(__always)
    func append(_ byte: UInt8) {
        reserve(1)
        storage.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    func append(decimal number: Int) {
        if number >= 10 { append(decimal: number / 10) }
        append(48 &+ UInt8(truncatingIfNeeded: number % 10))
    }

    func append(hexadecimal number: Int) {
        if number >= 16 { append(hexadecimal: number >> 4) }
        let digit = UInt8(truncatingIfNeeded: number & 15)
        append(digit < 10 ? 48 &+ digit : 87 &+ digit)
    }

    private func reserve(_ additional: Int) {
        if count + additional > capacity { grow(additional) }
    }

    @inline(never)
    private func grow(_ additional: Int) {
        let newCapacity = max(capacity * 2, count + additional)
        let newStorage = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
        memcpy(newStorage, storage, count)
        storage.deallocate()
        storage = newStorage
        capacity = newCapacity
    }
}
