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
    private var out: LineCursor
    private var parts: LineParts = []
    private var zoneCount: UInt8 = 0
    private var failureCount: UInt8 = 0

    init(at start: UnsafeMutableRawPointer) {
        self.start = start
        out = LineCursor(start + WaitingLine.headAt)
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
            // Dashes stand behind the digits 8, 12, 16 and 20.
            @inline(__always)
            func load(_ first: Int, _ second: Int) -> UInt32 {
                LineDigits.bytes(
                    of: UInt64(digits.loadUnaligned(fromByteOffset: first, as: UInt32.self))
                        | UInt64(digits.loadUnaligned(fromByteOffset: second, as: UInt32.self))
                        << 32)
            }
            target.storeBytes(of: load(0, 4), as: UInt32.self)
            target.storeBytes(of: load(9, 14), toByteOffset: 4, as: UInt32.self)
            target.storeBytes(of: load(19, 24), toByteOffset: 8, as: UInt32.self)
            target.storeBytes(of: load(28, 32), toByteOffset: 12, as: UInt32.self)
        }
    }

    /// Its texts.
    package mutating func head(_ head: LineHead) {
        start.storeBytes(of: head.hash, toByteOffset: WaitingLine.hashAt, as: UInt64.self)
        head.bytes.withUnsafeBytes { out.raw($0) }
    }

    package mutating func numbers(_ numbers: borrowing LineNumbers) {
        let numbersAt = out.at
        out.count(numbers.status)
        if let ahead = numbers.dateAheadMilliseconds {
            parts.insert(.date)
            out.signed(ahead)
        }
        out.count(numbers.items)
        out.count(numbers.records)
        out.count(numbers.bytesIn)
        out.count(numbers.bytesOut)
        let times = numbers.microseconds
        out.count(times.waiting)
        out.count(times.reading)
        if times.deciding > 0 || times.committing > 0 {
            parts.insert(.writes)
            out.count(times.deciding)
            out.count(times.committing)
        }
        out.count(times.sending)
        if numbers.notices > 0 {
            parts.insert(.notices)
            out.count(numbers.notices)
        }
        start.storeBytes(
            of: UInt16(truncatingIfNeeded: out.at - numbersAt), toByteOffset: WaitingLine.numbersAt,
            as: UInt16.self)
        start.storeBytes(
            of: UInt16(truncatingIfNeeded: numbersAt - start),
            toByteOffset: WaitingLine.textsEndAt, as: UInt16.self)
    }

    /// The first is the one of the head.
    package mutating func zone(
        _ name: String, owner: String?, from: Int64?, to: Int64?, moreComing: Bool
    ) {
        guard zoneCount < Self.zonesMax else { return }
        zoneCount += 1
        var has: LineZoneParts = moreComing ? [.more] : []
        if owner != nil { has.insert(.owner) }
        if from != nil { has.insert(.from) }
        if to != nil { has.insert(.to) }
        out.byte(has.rawValue)
        if zoneCount > 1 {
            append(name)
            if let owner { append(owner) }
        }
        let sizeAt = out.at
        out.byte(0)
        if let from { out.signed(from) }
        // Most are where they were, or near it.
        if let to { out.signed(to &- (from ?? 0)) }
        sizeAt.storeBytes(of: UInt8(truncatingIfNeeded: out.at - sizeAt - 1), as: UInt8.self)
    }

    package mutating func failures(
        _ code: String, reason: String?, count failed: Int, records: [UInt32]
    ) {
        guard failureCount < Self.failuresMax else { return }
        failureCount += 1
        out.byte(reason == nil ? 0 : 1)
        append(code)
        if let reason { append(reason) }
        let sizeAt = out.at
        out.byte(0)
        out.count(failed)
        hashes(records)
        sizeAt.storeBytes(of: UInt8(truncatingIfNeeded: out.at - sizeAt - 1), as: UInt8.self)
    }

    /// Hashes of the names of records that were saved or deleted.
    package mutating func saved(_ records: [UInt32]) {
        guard !records.isEmpty else { return }
        parts.insert(.saved)
        let sizeAt = out.at
        out.byte(0)
        hashes(records)
        sizeAt.storeBytes(of: UInt8(truncatingIfNeeded: out.at - sizeAt - 1), as: UInt8.self)
    }

    private mutating func hashes(_ records: [UInt32]) {
        let kept = min(records.count, Self.recordsMax)
        out.count(kept)
        for record in records.prefix(kept) { out.fixed(record) }
    }

    /// - Returns: how many bytes it has.
    func end() -> Int {
        var parts = parts
        if failureCount > 0 { parts.insert(.failures) }
        let count = out.at - start
        start.storeBytes(of: UInt32(count), as: UInt32.self)
        start.storeBytes(of: zoneCount, toByteOffset: WaitingLine.zoneCountAt, as: UInt8.self)
        start.storeBytes(
            of: failureCount, toByteOffset: WaitingLine.failureCountAt, as: UInt8.self)
        start.storeBytes(
            of: parts.rawValue, toByteOffset: WaitingLine.partsAt, as: UInt16.self)
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
    private mutating func append(_ text: String) {
        Self.withBytes(of: text) { out.text($0, max: SegmentForm.textBytesMax) }
    }
}
