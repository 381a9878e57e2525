/// Reads a stream of server-sent events (HTML Living Standard, 9.2.6) as its bytes come.
public struct EventStreamParser: Sendable {
    /// One event.
    public struct Event: Equatable, Sendable {
        /// What the stream is resumed after; nil before the server has named anything.
        public let id: String?
        /// What it says.
        public let data: [UInt8]
    }

    /// An event, or a line of one, that is larger than any server writes.
    public struct TooLarge: Error, Equatable {}

    /// Bytes of one event; more end the stream.
    public static let eventBytesMax = 1 << 20

    /// In how many seconds to come back when the stream ends, as the server has said last.
    public private(set) var retrySeconds: Double?

    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var hasData = false
    private var id: String?
    /// Whether the last byte was a CR, so that an LF that follows belongs to it.
    private var isAfterReturn = false
    private var isAtStart = true

    /// A stream of which nothing has come.
    public init() {}

    /// Takes the next bytes.
    ///
    /// - Returns: the events that they complete, in their order.
    /// - Throws: `TooLarge`; the stream is then of no more use.
    public mutating func take(_ bytes: some Sequence<UInt8>) throws(TooLarge) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            if isAfterReturn, byte == 0x0A {
                isAfterReturn = false
                continue
            }
            isAfterReturn = byte == 0x0D
            guard byte == 0x0A || byte == 0x0D else {
                line.append(byte)
                guard line.count + data.count <= Self.eventBytesMax else { throw TooLarge() }
                continue
            }
            if let event = endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() -> Event? {
        defer { line.removeAll(keepingCapacity: true) }
        if isAtStart {
            isAtStart = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        if line.isEmpty { return dispatch() }
        let colon = line.firstIndex(of: 0x3A) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == 0x20 { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "data":
            if hasData { data.append(0x0A) }
            hasData = true
            data += value
        // An id with a NUL is ignored.
        case "id" where !value.contains(0): id = String(decoding: value, as: UTF8.self)
        case "retry" where !value.isEmpty && value.allSatisfy { (0x30...0x39).contains($0) }:
            retrySeconds = Double(String(decoding: value, as: UTF8.self)).map { $0 / 1000 }
        // Comments begin with a colon; other fields mean nothing here.
        default: break
        }
        return nil
    }

    private mutating func dispatch() -> Event? {
        guard hasData else { return nil }
        defer {
            data = []
            hasData = false
        }
        return Event(id: id, data: data)
    }
}
