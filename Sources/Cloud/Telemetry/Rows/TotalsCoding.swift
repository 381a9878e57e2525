/// The form in which totals are kept: numbers of seven bits a byte, and of a histogram only what is not 0.
extension TelemetryTotals {
    private static let form: UInt8 = 1
    /// Of a row; no row of ours is longer.
    private static let codesMax = 256

    package var encoded: [UInt8] {
        var bytes: [UInt8] = [Self.form]
        for number in [microseconds, bytesIn, bytesOut, noticesSent, noticesFailed] {
            bytes.append(number: number)
        }
        bytes.append(latency)
        bytes.append(errors)
        bytes.append(itemFaults)
        bytes.append(affected)
        return bytes
    }

    /// - Returns: nil for what `encoded` has not made.
    package init?(encoded bytes: UnsafeRawBufferPointer) {
        var reader = TotalsReader(bytes)
        guard reader.byte() == Self.form, let microseconds = reader.number(),
            let bytesIn = reader.number(), let bytesOut = reader.number(),
            let sent = reader.number(), let failed = reader.number(),
            let latency = reader.latency(), let errors = reader.counts(max: Self.codesMax),
            let itemFaults = reader.counts(max: Self.codesMax), let affected = reader.users(),
            reader.isAtEnd
        else { return nil }
        self.init()
        (self.microseconds, self.bytesIn, self.bytesOut) = (microseconds, bytesIn, bytesOut)
        (noticesSent, noticesFailed) = (sent, failed)
        (self.latency, self.errors) = (latency, errors)
        (self.itemFaults, self.affected) = (itemFaults, affected)
    }
}

extension [UInt8] {
    fileprivate mutating func append(number: UInt64) {
        var rest = number
        while rest > 0x7f {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// The first bucket, how many there are, and their counts; of empty ones in a row a 0 and how many.
    fileprivate mutating func append(_ latency: LatencyHistogram) {
        append(number: UInt64(latency.first - LatencyScale.first))
        append(number: UInt64(latency.counts.count))
        var index = 0
        while index < latency.counts.count {
            let count = latency.counts[index]
            append(number: count)
            index += 1
            guard count == 0 else { continue }
            let start = index
            while index < latency.counts.count, latency.counts[index] == 0 { index += 1 }
            append(number: UInt64(index - start))
        }
    }

    fileprivate mutating func append(_ counts: [String: UInt64]) {
        append(number: UInt64(counts.count))
        for (code, count) in counts.sorted(by: { $0.key < $1.key }) {
            append(number: UInt64(code.utf8.count))
            append(contentsOf: code.utf8)
            append(number: count)
        }
    }

    /// As many registers as hold something, by their distances; of many all, two in a byte.
    fileprivate mutating func append(_ users: UserSketch) {
        let filled = users.registers.indices.filter { users.registers[$0] > 0 }
        guard filled.count <= UserSketch.registerCount / 4 else {
            append(number: UInt64(UserSketch.registerCount))
            for index in stride(from: 0, to: UserSketch.registerCount, by: 2) {
                append(users.registers[index] | users.registers[index + 1] << 4)
            }
            return
        }
        append(number: UInt64(filled.count))
        for index in filled {
            append(UInt8(index))
            append(users.registers[index])
        }
    }
}

/// Reads what totals are kept as; nil wherever that is not so.
private struct TotalsReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func byte() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func number() -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = byte() else { return nil }
            number |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return number }
        }
        return nil
    }

    mutating func count(max: Int) -> Int? {
        guard let number = number(), number <= UInt64(max) else { return nil }
        return Int(number)
    }

    mutating func latency() -> LatencyHistogram? {
        let bucketsMax = LatencyScale.last - LatencyScale.first + 1
        guard let first = count(max: bucketsMax), let size = count(max: bucketsMax) else {
            return nil
        }
        guard size > 0 else { return LatencyHistogram() }
        var counts: [UInt64] = []
        while counts.count < size {
            guard let next = number() else { return nil }
            counts.append(next)
            guard next == 0 else { continue }
            guard let more = count(max: size - counts.count) else { return nil }
            counts.append(contentsOf: repeatElement(0, count: more))
        }
        return LatencyHistogram(first: first + LatencyScale.first, counts: counts)
    }

    mutating func counts(max: Int) -> [String: UInt64]? {
        guard let size = count(max: max) else { return nil }
        var counts: [String: UInt64] = [:]
        for _ in 0..<size {
            guard let length = count(max: bytes.count), length <= bytes.count - offset else {
                return nil
            }
            let code = String(decoding: bytes[offset..<offset + length], as: UTF8.self)
            offset += length
            guard let number = number() else { return nil }
            counts[code] = number
        }
        return counts
    }

    mutating func users() -> UserSketch? {
        guard let size = count(max: UserSketch.registerCount) else { return nil }
        guard size > 0 else { return UserSketch() }
        var registers = [UInt8](repeating: 0, count: UserSketch.registerCount)
        if size == UserSketch.registerCount {
            for index in stride(from: 0, to: size, by: 2) {
                guard let both = byte() else { return nil }
                (registers[index], registers[index + 1]) = (both & 0xf, both >> 4)
            }
        } else {
            for _ in 0..<size {
                guard let index = byte(), let rank = byte() else { return nil }
                registers[Int(index)] = rank
            }
        }
        return UserSketch(registers: registers)
    }
}
