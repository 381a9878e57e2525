import CloudModel
import JSON
import WebServices

/// The log's line for one finished request, as JSON.
///
/// It is the line that a `LogEvent` would make, but several times faster, because there is one for
/// every request.
struct RequestLine {
    /// More than the usual line is long.
    private static let usualBytes = 512
    /// A container's name is no longer; what a client puts in its place may be.
    private static let containerBytesMax = 128

    private var writer = JSONWriter(reserving: RequestLine.usualBytes)

    /// The line for a request that has just ended, with its end.
    ///
    /// - Parameter showsClient: whether it says where on the network the request came from.
    static func bytes(
        for request: RequestObservation, at time: Milliseconds, showsClient: Bool = false
    ) -> [UInt8] {
        var line = RequestLine()
        line.write(request, at: time, showsClient)
        return line.writer.bytes
    }

    private mutating func write(
        _ request: RequestObservation, at time: Milliseconds, _ showsClient: Bool
    ) {
        writer.raw(#"{"time":""#)
        Timestamp(time).append(to: &writer.bytes)
        writer.raw(#"","level":"info","message":"request""#)
        plain(#","request":""#, request.requestID)
        plain(#","operation":""#, request.operation ?? RequestCounts.unmatched)
        if let container = request.container {
            writer.raw(#","container":"#)
            write(container: container)
        }
        if let environment = request.environment {
            plain(#","environment":""#, environment.rawValue)
        }
        if let database = request.database { plain(#","database":""#, database.rawValue) }
        if let user = request.userRecordName { plain(#","user":""#, user.text) }
        if let keyID = request.keyID { plain(#","keyID":""#, keyID) }
        if showsClient, let client = request.client { plain(#","client":""#, "\(client)") }
        writer.raw(#","status":"#)
        writer.integer(Int64(request.status))
        if let code = request.code { plain(#","code":""#, code.rawValue) }
        if let refusal = request.refusal { plain(#","refusal":""#, refusal.rawValue) }
        writer.raw(#","bytesIn":"#)
        writer.integer(Int64(request.bytesIn))
        writer.raw(#","bytesOut":"#)
        writer.integer(Int64(request.bytesOut))
        writer.raw(#","milliseconds":"#)
        let microseconds = request.durationNanoseconds / 1_000
        writer.integer(Int64(clamping: microseconds / 1_000))
        writer.byte(UInt8(ascii: "."))
        let rest = microseconds % 1_000
        writer.byte(digit(rest / 100))
        writer.byte(digit(rest / 10 % 10))
        writer.byte(digit(rest % 10))
        writer.raw("}\n")
    }

    /// The container is the client's own word until one of that name is found.
    private mutating func write(container: String) {
        let isPlain = container.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.count <= Self.containerBytesMax
                && bytes.allSatisfy {
                    (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\"")
                        && $0 != UInt8(ascii: "\\")
                }
        }
        if isPlain ?? false {
            writer.byte(UInt8(ascii: "\""))
            return plain("", container)
        }
        var text = JSONLine()
        text.text(Self.shortened(container))
        writer.raw(text.bytes)
    }

    /// As much of a text as a container's name may have.
    static func shortened(_ container: String) -> String {
        String(decoding: container.utf8.prefix(containerBytesMax), as: UTF8.self)
    }

    private func digit(_ value: UInt64) -> UInt8 {
        UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value)
    }

    /// A member whose value the server made itself, of letters that need no escape.
    private mutating func plain(_ opening: StaticString, _ value: String) {
        writer.raw(opening)
        writer.bytes.append(contentsOf: value.utf8)
        writer.byte(UInt8(ascii: "\""))
    }
}
