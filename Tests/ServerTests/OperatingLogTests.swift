import ChildProcesses
import CloudModel
import Foundation
import HTTP
import Synchronization
import Testing
import WebServices

@testable import Server

@Suite("The log")
struct OperatingLogTests {
    /// A pipe whose reading end is this test's own.
    final class Sink {
        let pipe = Pipe()
        var descriptor: Int32 { pipe.fileHandleForWriting.fileDescriptor }

        func lines() -> [String] {
            pipe.fileHandleForWriting.closeFile()
            let text = String(
                decoding: pipe.readToEnd(), as: UTF8.self)
            return text.split(separator: "\n").map(String.init)
        }
    }

    private let clock = Clock { 1_795_248_000_123 }

    @Test("An event is one line of JSON with its time, level, message and fields")
    func eventIsOneLine() throws {
        let sink = Sink()
        let log = Log(format: .json, descriptor: sink.descriptor, clock: clock)
        log.warning(
            "odd thing",
            [
                ("text", .text("a\"b\n\u{7f}\u{9b}é\u{2028}")), ("count", .number(-7)),
                ("flag", .flag(true)), ("milliseconds", .microseconds(1_234_005)),
            ])
        #expect(log.flush(withinSeconds: 60))
        let lines = sink.lines()
        #expect(lines.count == 1)
        #expect(
            lines.first
                == #"{"time":"2026-11-21T08:00:00.123Z","level":"warning","message":"odd thing","#
                + #""text":"a\"b\n\u007f\u009bé\#u{2028}","count":-7,"flag":true,"#
                + #""milliseconds":1234.005}"#)
        let object = try JSONSerialization.jsonObject(with: Data((lines.first ?? "").utf8))
        #expect((object as? [String: Any])?["text"] as? String == "a\"b\n\u{7f}\u{9b}é\u{2028}")
    }

    @Test("The text format quotes whatever is not one plain word")
    func textFormat() {
        let sink = Sink()
        let log = Log(format: .text, descriptor: sink.descriptor, clock: clock)
        log.info(
            "thing", [("a", .text("plain")), ("b", .text("two words\u{1b}[0m")), ("c", .text(""))])
        log.flush(withinSeconds: 60)
        #expect(
            sink.lines() == [
                #"2026-11-21T08:00:00.123Z info thing a=plain b="two words\u001b[0m" c="""#
            ])
    }

    @Test("A request line carries what the operator needs")
    func requestLine() throws {
        let sink = Sink()
        let log = Log(format: .json, descriptor: sink.descriptor, clock: clock)
        let recorder = RequestRecorder(metrics: Metrics(version: "1", startedAt: 0), log: log)
        let user = try #require(UserRecordName("_0123456789abcdef0123456789abcdef"))
        recorder.observe(
            RequestObservation(
                requestID: "r-1", operation: "records/modify", container: "iCloud.a",
                environment: .development, database: .private, userRecordName: user, keyID: "k",
                status: 503, code: .tryAgainLater, bytesIn: 10, bytesOut: 20,
                durationNanoseconds: 1_500_000, loop: 0, failure: "disk"))
        log.flush(withinSeconds: 60)
        #expect(
            sink.lines().map { $0.replacing("\"time\":\"2026-11-21T08:00:00.123Z\",", with: "") }
                == [
                    #"{"level":"error","message":"request failed inside","request":"r-1","#
                        + #""failure":"disk"}"#,
                    #"{"level":"info","message":"request","request":"r-1","#
                        + #""operation":"records/modify","container":"iCloud.a","#
                        + #""environment":"development","database":"private","#
                        + #""user":"_0123456789abcdef0123456789abcdef","keyID":"k","status":503,"#
                        + #""code":"TRY_AGAIN_LATER","bytesIn":10,"bytesOut":20,"#
                        + #""milliseconds":1.500}"#,
                ])
    }

    @Test("The quick way to write a request's line makes what the general one makes")
    func requestLineIsAnEvent() throws {
        let user = try #require(UserRecordName("_0123456789abcdef0123456789abcdef"))
        let containers = [
            nil, "iCloud.a", "", "a\"b\\\n\u{7f}é", String(repeating: "é", count: 200),
        ]
        for (number, container) in containers.enumerated() {
            let isFull = number % 2 == 1
            let request = RequestObservation(
                requestID: "r", operation: isFull ? "users/caller" : nil, container: container,
                environment: isFull ? .production : nil, database: isFull ? .shared : nil,
                userRecordName: isFull ? user : nil, keyID: isFull ? "k" : nil,
                status: 200 + number, code: isFull ? .atomicError : nil, bytesIn: number,
                bytesOut: number * 1_000, durationNanoseconds: UInt64(number) * 1_234_567)
            #expect(
                String(decoding: RequestLine.bytes(for: request, at: 1), as: UTF8.self)
                    == String(decoding: LogEvent(request).line(at: 1, as: .json), as: UTF8.self))
        }
    }

    @Test(
        "Of many anonymous requests in a second some are written, and all of who shows who they are"
    )
    func sampling() throws {
        let sink = Sink()
        let moment = Atomic<Int64>(1_000)
        let log = Log(
            format: .json, descriptor: sink.descriptor,
            clock: Clock { moment.load(ordering: .relaxed) })
        for _ in 0..<1_050 { log.report(RequestObservation(requestID: "anonymous", status: 401)) }
        for _ in 0..<70 {
            log.report(RequestObservation(requestID: "known", keyID: "k", status: 200))
        }
        for _ in 0..<100 { log.sampled("page", [("page", .text("sampled"))]) }
        let leftOut = log.leftOutCount
        moment.store(2_000, ordering: .relaxed)
        log.report(RequestObservation(requestID: "later", status: 401))
        log.flush(withinSeconds: 60)
        let lines = sink.lines()
        func count(_ text: String) -> Int { lines.count { $0.contains(text) } }
        #expect(count("anonymous\"") == 50 + 10 && count("known") == 70 && count("sampled") == 1)
        #expect(leftOut == 1_150 - 61 && count("\"lines\":\(leftOut)}") == 1 && count("later") == 1)
    }

    @Test("Where the operator wants it, lines of requests say where on the network they came from")
    func clients() throws {
        let request = RequestObservation(
            requestID: "r", status: 200, client: ClientBlock("2001:db8:0:7:1::9"))
        for shows in [true, false] {
            let line = String(
                decoding: RequestLine.bytes(for: request, at: 1, showsClient: shows), as: UTF8.self)
            #expect(line.contains("\"client\":\"2001:db8:0:7::/64\"") == shows)
            let event = LogEvent(request, showsClient: shows).line(at: 1, as: .json)
            #expect(line == String(decoding: event, as: UTF8.self))
        }
    }

    @Test("A log that nobody reads holds up nobody, and says how many lines it dropped")
    func slowReader() throws {
        let sink = Sink()
        let log = Log(
            format: .json, descriptor: sink.descriptor, clock: clock, bufferBytesMax: 10_000)
        // More than the pipe and the buffer take together.
        var reported = 0
        while log.droppedCount == 0 || log.flush(withinSeconds: 0.01) {
            log.info("event", [("number", .number(Int64(reported)))])
            reported += 1
        }
        var text = ""
        while !text.contains("log lines dropped") {
            text += String(
                decoding: sink.pipe.fileHandleForReading.availableData, as: UTF8.self)
        }
        #expect(log.flush(withinSeconds: 60))
        text += sink.lines().joined(separator: "\n")
        let lines = text.split(separator: "\n").filter { $0.contains("\"message\":\"event\"") }
        #expect(lines.count + log.droppedCount == reported)
    }

    @Test(
        "Times are written as RFC 3339 in UTC",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ])
    func timestamps(time: Int64, text: String) {
        #expect(Timestamp(time).text == text)
    }
}
