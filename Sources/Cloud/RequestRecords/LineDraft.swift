import CloudModel

/// The numbers of a line.
package struct LineNumbers {
    package var status: Int
    package var dateAheadMilliseconds: Milliseconds?
    package var items: Int
    package var records: Int
    package var bytesIn: Int
    package var bytesOut: Int
    package var microseconds: RequestEntry.Stages
    package var notices: Int

    package init(
        status: Int, dateAheadMilliseconds: Milliseconds?, items: Int, records: Int, bytesIn: Int,
        bytesOut: Int, microseconds: RequestEntry.Stages, notices: Int
    ) {
        self.status = status
        self.dateAheadMilliseconds = dateAheadMilliseconds
        self.items = items
        self.records = records
        self.bytesIn = bytesIn
        self.bytesOut = bytesOut
        self.microseconds = microseconds
        self.notices = notices
    }
}

/// One line as it is written into the memory of those that wait.
///
/// Its methods are called in the order in which they stand here. What is too long is cut and what is too much is left
/// out, so that no line is longer than `bytesMax`.
package struct LineDraft {
    /// More than any line has: its texts, its zones and its failures.
    static let bytesMax = 32_768
    package static let zonesMax = 32
    package static let failuresMax = 8
    package static let recordsMax = 4

    private let start: UnsafeMutableRawPointer
    private var at: UnsafeMutableRawPointer
    private var parts: LineParts = []
    private var textParts: LineParts = []
    private var numbersAt: UnsafeMutableRawPointer
    private var zoneCount: UInt8 = 0
    private var failureCount: UInt8 = 0

    init(at start: UnsafeMutableRawPointer) {
        self.start = start
        at = start + WaitingLine.textsAt
        numbersAt = at
    }

    package mutating func begin(
        at time: Milliseconds, _ environment: Environment?, _ database: DatabaseScope?
    ) {
        start.storeBytes(of: time, toByteOffset: WaitingLine.timeAt, as: Int64.self)
        start.storeBytes(
            of: LineCodec.place(environment, database), toByteOffset: WaitingLine.placeAt,
            as: UInt8.self)
    }

    /// The 16 bytes of the request's id; what is missing is 0.
    package mutating func id(_ bytes: [UInt8]) {
        for index in 0..<LineCodec.idBytes {
            start.storeBytes(
                of: index < bytes.count ? bytes[index] : 0,
                toByteOffset: WaitingLine.idAt + index, as: UInt8.self)
        }
    }

    /// The same from its form as a text, which is that of a UUID; any other leaves 0.
    package mutating func id(_ text: String) {
        let target = start + WaitingLine.idAt
        Self.withBytes(of: text) { digits in
            guard digits.count == 36 else {
                target.initializeMemory(as: UInt8.self, repeating: 0, count: LineCodec.idBytes)
                return
            }
            var at = 0
            for index in 0..<LineCodec.idBytes {
                // Dashes stand before the bytes 4, 6, 8 and 10.
                if 0b0000_0101_0101_0000 >> index & 1 == 1 { at += 1 }
                target.storeBytes(
                    of: Self.value(digits[at]) << 4 | Self.value(digits[at + 1]),
                    toByteOffset: index, as: UInt8.self)
                at += 2
            }
        }
    }

    /// The digits are 0x30 to 0x39, and 0x61 to 0x66.
    @inline(__always)
    private static func value(_ digit: UInt8) -> UInt8 { digit & 0x0f &+ digit >> 6 &* 9 }

    /// One of its texts, in the order of the parts, of at most so many bytes.
    package mutating func text(
        _ part: LineParts, _ text: String?, max: Int = SegmentForm.textBytesMax
    ) {
        guard let text else { return }
        textParts.insert(part)
        append(text, max: max)
        numbersAt = at
    }

    /// As `text`, without making one.
    package mutating func text(_ part: LineParts, _ bytes: UnsafeRawBufferPointer, max: Int) {
        textParts.insert(part)
        at += Self.store(bytes, at: at, max: max)
        numbersAt = at
    }

    /// As `text`, for bytes that are told by hexadecimal digits.
    package mutating func text(_ part: LineParts, digitsOf bytes: [UInt8]?) {
        guard let bytes else { return }
        textParts.insert(part)
        let count = min(bytes.count, SegmentForm.textBytesMax / 2)
        at.storeBytes(of: UInt8(count * 2), as: UInt8.self)
        bytes.withUnsafeBytes { bytes in
            for index in 0..<count {
                let byte = UInt16(bytes[index])
                let pair = byte >> 4 | (byte & 15) << 8
                // The letters are 39 above where the digits end.
                let letters = ((pair &+ 0x0606) >> 4) & 0x0101
                at.storeBytes(
                    of: (pair &+ 0x3030 &+ letters &* 39).littleEndian,
                    toByteOffset: 1 + index * 2, as: UInt16.self)
            }
        }
        at += 1 + count * 2
        numbersAt = at
    }

    package mutating func numbers(_ numbers: borrowing LineNumbers) {
        count(numbers.status)
        if let ahead = numbers.dateAheadMilliseconds {
            parts.insert(.date)
            signed(ahead)
        }
        count(numbers.items)
        count(numbers.records)
        count(numbers.bytesIn)
        count(numbers.bytesOut)
        let times = numbers.microseconds
        count(times.waiting)
        count(times.reading)
        if times.deciding > 0 || times.committing > 0 {
            parts.insert(.writes)
            count(times.deciding)
            count(times.committing)
        }
        count(times.sending)
        if numbers.notices > 0 {
            parts.insert(.notices)
            count(numbers.notices)
        }
        start.storeBytes(
            of: UInt16(truncatingIfNeeded: at - numbersAt), toByteOffset: WaitingLine.numbersAt,
            as: UInt16.self)
        start.storeBytes(
            of: UInt16(truncatingIfNeeded: numbersAt - start),
            toByteOffset: WaitingLine.textsEndAt, as: UInt16.self)
    }

    package mutating func zone(
        _ name: String, owner: String?, from: Int64?, to: Int64?, moreComing: Bool
    ) {
        guard zoneCount < Self.zonesMax else { return }
        zoneCount += 1
        var has: LineZoneParts = moreComing ? [.more] : []
        if owner != nil { has.insert(.owner) }
        if from != nil { has.insert(.from) }
        if to != nil { has.insert(.to) }
        byte(has.rawValue)
        append(name)
        if let owner { append(owner) }
        let sizeAt = at
        at += 1
        if let from { signed(from) }
        // Most are where they were, or near it.
        if let to { signed(to &- (from ?? 0)) }
        sizeAt.storeBytes(of: UInt8(truncatingIfNeeded: at - sizeAt - 1), as: UInt8.self)
    }

    package mutating func failures(
        _ code: String, reason: String?, count failed: Int, records: [UInt32]
    ) {
        guard failureCount < Self.failuresMax else { return }
        failureCount += 1
        byte(reason == nil ? 0 : 1)
        append(code)
        if let reason { append(reason) }
        let sizeAt = at
        at += 1
        count(failed)
        hashes(records)
        sizeAt.storeBytes(of: UInt8(truncatingIfNeeded: at - sizeAt - 1), as: UInt8.self)
    }

    /// Hashes of the names of records that were saved or deleted.
    package mutating func saved(_ records: [UInt32]) {
        guard !records.isEmpty else { return }
        parts.insert(.saved)
        let sizeAt = at
        at += 1
        hashes(records)
        sizeAt.storeBytes(of: UInt8(truncatingIfNeeded: at - sizeAt - 1), as: UInt8.self)
    }

    private mutating func hashes(_ records: [UInt32]) {
        let kept = min(records.count, Self.recordsMax)
        count(kept)
        for record in records.prefix(kept) {
            at.storeBytes(of: record.littleEndian, as: UInt32.self)
            at += 4
        }
    }

    /// - Returns: how many bytes it has.
    func end() -> Int {
        var parts = parts
        if zoneCount > 0 { parts.insert(.zones) }
        if failureCount > 0 { parts.insert(.failures) }
        let count = at - start
        start.storeBytes(of: UInt32(count), as: UInt32.self)
        start.storeBytes(of: zoneCount, toByteOffset: WaitingLine.zoneCountAt, as: UInt8.self)
        start.storeBytes(
            of: failureCount, toByteOffset: WaitingLine.failureCountAt, as: UInt8.self)
        start.storeBytes(
            of: parts.rawValue, toByteOffset: WaitingLine.partsAt, as: UInt16.self)
        start.storeBytes(
            of: textParts.rawValue, toByteOffset: WaitingLine.textPartsAt, as: UInt16.self)
        return count
    }

    @inline(__always)
    private static func withBytes(of text: String, _ body: (UnsafeRawBufferPointer) -> Void) {
        let isDone: Void? = text.utf8.withContiguousStorageIfAvailable {
            body(UnsafeRawBufferPointer($0))
        }
        if isDone == nil { Array(text.utf8).withUnsafeBytes { body($0) } }
    }

    @inline(__always)
    private mutating func append(_ text: String, max: Int = SegmentForm.textBytesMax) {
        let target = at
        var size = 0
        Self.withBytes(of: text) { size = Self.store($0, at: target, max: max) }
        at = target + size
    }

    /// A text is cut between two characters.
    @inline(__always)
    private static func store(
        _ bytes: UnsafeRawBufferPointer, at target: UnsafeMutableRawPointer, max: Int
    ) -> Int {
        var count = bytes.count
        if count > max {
            count = max
            while count > 0, bytes[count] & 0xc0 == 0x80 { count -= 1 }
        }
        target.storeBytes(of: UInt8(truncatingIfNeeded: count), as: UInt8.self)
        if count > 0, let base = bytes.baseAddress {
            (target + 1).copyMemory(from: base, byteCount: count)
        }
        return 1 + count
    }

    @inline(__always)
    private mutating func byte(_ value: UInt8) {
        at.storeBytes(of: value, as: UInt8.self)
        at += 1
    }

    @inline(__always)
    private mutating func number(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            byte(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        byte(UInt8(truncatingIfNeeded: rest))
    }

    @inline(__always)
    private mutating func count(_ value: Int) { number(UInt64(max(0, value))) }

    private mutating func signed(_ value: Int64) {
        number(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }
}
