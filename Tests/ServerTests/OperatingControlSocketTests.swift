import Awaiting
import Foundation
import Testing

@testable import Control
@testable import Server

@Suite("The control socket")
struct OperatingControlSocketTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("A command reaches the process that listens, with its inputs, and its answer comes back")
    func roundTrip() throws {
        let path = folder.path("control.sock")
        let server = try ControlServer(path: path) { request, _, _ in
            CommandAnswer(
                status: 7, output: Array("out \(request.arguments)".utf8),
                error: String(decoding: request.inputs["password-stdin"] ?? [], as: UTF8.self))
        }
        defer { server.close(withinSeconds: 10) }
        let answer = try ControlClient(path: path).run(
            ControlRequest(
                arguments: ["a", "b \"\n\u{0}", "ü"],
                inputs: ["password-stdin": Array("s3cret\n".utf8)]),
            secondsMax: 120)
        #expect(answer?.status == 7)
        #expect(answer?.output == Array(#"out ["a", "b \"\n\0", "ü"]"#.utf8))
        #expect(answer?.error == "s3cret\n")
    }

    @Test("The socket is for its owner alone")
    func mode() throws {
        let path = folder.path("control.sock")
        let server = try ControlServer(path: path) { _, _, _ in CommandAnswer(status: 0) }
        defer { server.close(withinSeconds: 10) }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    #if os(Linux)
        @Test("Sockets that are made at the same time leave the mode of what others make as it was")
        func mask() throws {
            func mask() throws -> Substring? {
                try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
                    .split(separator: "\n").first { $0.hasPrefix("Umask:") }
            }
            let before = try mask()
            let made = DispatchGroup()
            for number in 0..<4 {
                let path = folder.path("\(number).sock")
                made.enter()
                Thread.detachNewThread {
                    for _ in 0..<500 { _ = try? LocalSocket.listen(at: path) }
                    made.leave()
                }
            }
            var seen = Set([before])
            while made.wait(timeout: .now()) == .timedOut { seen.insert(try mask()) }
            seen.insert(try mask())
            #expect(seen == [before])
        }
    #endif

    @Test("Where nobody listens there is no answer, also beside a socket left behind")
    func nobodyListens() throws {
        let path = folder.path("control.sock")
        let client = ControlClient(path: path)
        #expect(
            try client.run(
                ControlRequest(arguments: ["a"], inputs: [:]), secondsMax: 1) == nil)
        // Closed at once, without being removed, as by a process that was killed.
        _ = try LocalSocket.listen(at: path)
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(
            try client.run(
                ControlRequest(arguments: ["a"], inputs: [:]), secondsMax: 1) == nil)
        let server = try ControlServer(path: path) { _, _, _ in CommandAnswer(status: 3) }
        defer { server.close(withinSeconds: 10) }
        #expect(
            try client.run(
                ControlRequest(arguments: ["a"], inputs: [:]), secondsMax: 120)?.status == 3)
    }

    @Test("A path longer than a socket's address works all the same")
    func longPath() throws {
        let deep = folder.path(String(repeating: "d", count: 150))
        try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
        let server = try ControlServer(path: deep + "/control.sock") { _, _, _ in
            CommandAnswer(status: 4)
        }
        defer { server.close(withinSeconds: 10) }
        let client = ControlClient(path: deep + "/control.sock")
        #expect(
            try client.run(
                ControlRequest(arguments: ["a"], inputs: [:]), secondsMax: 120)?.status == 4)
    }

    @Test("What is no command is hung up on, and the next caller is served")
    func garbage() throws {
        let path = folder.path("control.sock")
        let server = try ControlServer(path: path) { _, _, _ in CommandAnswer(status: 5) }
        defer { server.close(withinSeconds: 10) }
        for frame in ["", "{", "[]", #"{"arguments":[1],"inputs":{}}"#, #"{"arguments":["a"]}"#] {
            let socket = try LocalSocket.connect(to: path)
            try socket.send(Array(frame.utf8))
            #expect(throws: LocalSocket.Failure.closed) { try socket.receive() }
        }
        let tooLong = try LocalSocket.connect(to: path)
        let length: [UInt8] = [0xff, 0xff, 0xff, 0xff]
        _ = length.withUnsafeBytes { write(tooLong.descriptor, $0.baseAddress, 4) }
        #expect(throws: LocalSocket.Failure.closed) { try tooLong.receive() }
        let answer = try ControlClient(path: path).run(
            ControlRequest(arguments: ["a"], inputs: [:]), secondsMax: 120)
        #expect(answer?.status == 5)
    }

    @Test("Callers who say nothing keep nobody waiting, however many they are, and go in the end")
    func silentCallers() throws {
        let path = folder.path("control.sock")
        let server = try ControlServer(path: path) { _, _, _ in CommandAnswer(status: 6) }
        defer { server.close(withinSeconds: 10) }
        var silent: [LocalSocket] = []
        for _ in 0..<80 { silent.append(try LocalSocket.connect(to: path)) }
        let begun = DispatchTime.now().uptimeNanoseconds
        let answer = try ControlClient(path: path).run(
            ControlRequest(arguments: ["a"], inputs: [:]), secondsMax: 120)
        #expect(answer?.status == 6)
        // Each of them may stay for 10 seconds: nobody has waited for that.
        #expect(DispatchTime.now().uptimeNanoseconds - begun < 8_000_000_000)
        // Of more than may stay, the first has gone.
        #expect(throws: LocalSocket.Failure.closed) { try silent[0].receive() }
    }

    @Test("Commands run side by side, so that a long one keeps none waiting")
    func concurrent() throws {
        let path = folder.path("control.sock")
        let release = DispatchSemaphore(value: 0)
        let started = DispatchSemaphore(value: 0)
        let server = try ControlServer(path: path) { request, _, _ in
            if request.arguments == ["long"] {
                started.signal()
                release.wait()
            }
            return CommandAnswer(status: 0, output: Array(request.arguments.joined().utf8))
        }
        defer { server.close(withinSeconds: 10) }
        let long = Awaited<[UInt8]?>()
        Thread.detachNewThread {
            let client = ControlClient(path: path)
            long.tell(
                try? client.run(
                    ControlRequest(arguments: ["long"], inputs: [:]), secondsMax: 300)?.output)
        }
        #expect(started.wait(timeout: .now() + .seconds(Wait.seconds)) == .success)
        let short = try ControlClient(path: path).run(
            ControlRequest(arguments: ["short"], inputs: [:]), secondsMax: 120)
        #expect(short?.output == Array("short".utf8))
        release.signal()
        #expect(try long.value() == Array("long".utf8))
    }
}
