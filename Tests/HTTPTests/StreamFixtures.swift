import Foundation
import HTTP
import Synchronization

/// Takes the bodies of requests below `/sink/`.
///
/// `/sink/echo` answers with their bytes, `/sink/held` consumes nothing until told, `/sink/stop/N`
/// refuses after so many bytes, `/sink/refuse` at once, `/sink/later` by and by, `/sink/wrong` miscounts.
final class Sinks: Sendable {
    private let state = Mutex<[String]>([])
    private let held = Mutex<[TestSink]>([])
    private let queue = DispatchQueue(label: "sinks")

    /// What has happened, in order: `end`, `abort`.
    var events: [String] { state.withLock { $0 } }
    /// How much the sinks that hold have received.
    var heldBytes: Int { held.withLock { $0.reduce(0) { $0 + $1.count } } }

    func note(_ event: String) { state.withLock { $0.append(event) } }

    /// Lets those that hold go on.
    func release() {
        let sinks = held.withLock { $0 }
        for sink in sinks { sink.release() }
    }

    func receive(
        _ request: HTTPRequest, _ stream: BodyStream, _ reply: HTTPReply
    ) -> (any BodySink)? {
        let target = String(decoding: request.target, as: UTF8.self)
        if target == "/sink/refuse" {
            reply.send(HTTPResponse(status: 413, body: Array("no".utf8)))
            return nil
        }
        if target == "/sink/later" {
            queue.async { reply.send(HTTPResponse(status: 413, body: Array("no".utf8))) }
            return nil
        }
        let most =
            target.hasPrefix("/sink/stop/") ? Int(target.dropFirst(11)) ?? 0 : Int.max
        let sink = TestSink(
            self, stream, reply, queue, bytesMax: most, holds: target == "/sink/held",
            excess: target == "/sink/wrong" ? 1 : 0)
        if target == "/sink/held" { held.withLock { $0.append(sink) } }
        return sink
    }
}

final class TestSink: BodySink {
    private struct State {
        var bytes: [UInt8] = []
        var holds: Bool
        var unconsumed = 0
    }

    private let owner: Sinks
    private let stream: BodyStream
    private let reply: HTTPReply
    private let queue: DispatchQueue
    private let bytesMax: Int
    /// How much more than it was given it says that it has dealt with.
    private let excess: Int
    private let state: Mutex<State>

    init(
        _ owner: Sinks, _ stream: BodyStream, _ reply: HTTPReply, _ queue: DispatchQueue,
        bytesMax: Int, holds: Bool, excess: Int
    ) {
        self.owner = owner
        self.stream = stream
        self.reply = reply
        self.queue = queue
        self.bytesMax = bytesMax
        self.excess = excess
        state = Mutex(State(holds: holds))
    }

    var count: Int { state.withLock { $0.bytes.count } }

    func receive(_ piece: [UInt8]) {
        let (holds, isOver) = state.withLock { state in
            state.bytes += piece
            if state.holds { state.unconsumed += piece.count }
            return (state.holds, state.bytes.count > bytesMax)
        }
        if isOver { reply.send(HTTPResponse(status: 413, body: Array("enough".utf8))) }
        if !holds { queue.async { self.stream.consumed(piece.count + self.excess) } }
    }

    func release() {
        let count = state.withLock { state in
            defer { state.unconsumed = 0 }
            state.holds = false
            return state.unconsumed
        }
        queue.async { self.stream.consumed(count) }
    }

    func end() {
        owner.note("end")
        queue.async {
            self.reply.send(HTTPResponse(status: 200, body: self.state.withLock { $0.bytes }))
        }
    }

    func abort() { owner.note("abort") }
}

/// Finds fault with a file from some byte on.
struct FaultFinder: StretchCheck {
    let partBytes = 65_536
    let fileBytes: Int
    let soundBytes: Int

    func isSound(_ stretch: Range<Int>) -> Bool { stretch.upperBound <= soundBytes }
}

/// Answers that stream: `/stream/file/PATH`, `/stream/checked/N/PATH` (sound for N bytes), `/stream/parts/PATH`, `/stream/made/N`, `/stream/short/N`.
enum StreamedAnswers {
    static func answer(to target: String) -> HTTPResponse {
        let words = target.dropFirst("/stream/".count).split(separator: "/", maxSplits: 1)
        let rest = words.count > 1 ? String(words[1]) : ""
        var response = HTTPResponse(
            status: 200, headers: [("Content-Type", "application/json")])
        switch words.first {
        case "file": response.stream = StreamedBody([.file(slice("/" + rest))])
        case "checked":
            let parts = rest.split(separator: "/", maxSplits: 1)
            var whole = slice("/" + (parts.last ?? ""))
            let check = FaultFinder(
                fileBytes: whole.count, soundBytes: parts.first.flatMap { Int($0) } ?? 0)
            whole = FileSlice(
                descriptor: whole.descriptor, owner: whole.owner, offset: whole.offset,
                count: whole.count, check: check)
            response.stream = StreamedBody([.file(whole)])
        case "parts":
            let whole = slice("/" + rest)
            let half = whole.count / 2
            response.stream = StreamedBody([
                .bytes(Array("<".utf8)), .file(part(whole, 0, half)), .bytes(Array("|".utf8)),
                .file(part(whole, half, whole.count - half)), .bytes(Array(">".utf8)),
            ])
        case "made":
            let count = Int(rest) ?? 0
            response.stream = StreamedBody([
                .made(PatternMaker(end: count), offset: 0, count: count)
            ])
        default:
            let count = Int(rest) ?? 0
            response.stream = StreamedBody([
                .made(PatternMaker(end: count / 2), offset: 0, count: count)
            ])
        }
        return response
    }

    private static func slice(_ path: String) -> FileSlice {
        let handle = FileHandle(forReadingAtPath: path)
        let count = Int((try? handle?.seekToEnd()) ?? 0)
        let owner = Holder(handle)
        return FileSlice(
            descriptor: handle?.fileDescriptor ?? -1, owner: owner, offset: 0, count: count)
    }

    private static func part(_ slice: FileSlice, _ offset: Int, _ count: Int) -> FileSlice {
        FileSlice(
            descriptor: slice.descriptor, owner: slice.owner, offset: offset, count: count)
    }

    private final class Holder: @unchecked Sendable {
        // Only kept.
        private let handle: FileHandle?

        init(_ handle: FileHandle?) { self.handle = handle }
    }
}

/// The bytes of `TestResponder.bytes`, until an end at which it fails.
struct PatternMaker: ByteMaker {
    struct Over: Error {}

    let end: Int

    func bytes(at offset: Int, count: Int) throws -> [UInt8] {
        guard offset < end else { throw Over() }
        return (offset..<min(offset + count, end)).map { UInt8($0 % 251) }
    }
}
