import Administration
import Awaiting
import Files
import Foundation
import Seeding
import Synchronization
import Testing

@testable import Commands
@testable import Control
@testable import Server

@Suite("Files of the process in which a command was typed")
struct CallerFilesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A command with one file, as the process that has the folder runs it.
    private func command(
        _ body: @escaping @Sendable (any CallerFiles) throws -> Void
    ) -> Command {
        Command(
            "pass", "read and write", positionals: [.init("FILE", "a file", kind: .streamed)],
            isLong: true,
            action: .streamed { _, _, files in
                try body(files)
                return CommandOutput("done")
            })
    }

    /// Asks this of the process in which somebody typed `pass FILE`, over the socket.
    private func ask(
        file: String, input: [[UInt8]] = [],
        output: (@Sendable ([UInt8]) -> Void)? = nil,
        _ body: @escaping @Sendable (any CallerFiles) throws -> Void
    ) throws -> CommandAnswer {
        let path = folder.path("control.sock")
        let server = try ControlServer(path: path) { _, _, caller in
            do {
                try body(caller)
                return CommandAnswer(status: 0)
            } catch {
                return CommandAnswer(failure: error)
            }
        }
        defer { server.close(withinSeconds: 10) }
        let pieces = Mutex(input)
        var process = ProcessEnvironment(
            environment: [:], folder: folder.path(""), isTerminal: false, readInput: { _ in nil },
            ask: { _ in "" }, writeOutput: { _ in }, clock: .system, random: .system)
        process.readInputPiece = { _ in pieces.withLock { $0.isEmpty ? [] : $0.removeFirst() } }
        if let output { process.writeOutput = output }
        let parsed = try CommandLineParser(commands: [command { _ in }]).parse(["pass", file])
        guard case .invocation(let invocation) = parsed else {
            throw CommandFailure("no invocation")
        }
        let files = LocalFiles(invocation, process, ProgressLine(process))
        let answer = try ControlClient(path: path).run(
            ControlRequest(arguments: ["pass"], inputs: [:]), secondsMax: nil, files: files)
        return try #require(answer)
    }

    @Test("Progress that says how much is done is a bar on a terminal, and nothing elsewhere")
    func bar() throws {
        let parsed = try CommandLineParser(commands: [command { _ in }]).parse(["pass", "a"])
        guard case .invocation(let invocation) = parsed else {
            throw CommandFailure("no invocation")
        }
        func shown(_ progress: String, onTerminal: Bool) -> String {
            let output = Mutex<[UInt8]>([])
            let process = ProcessEnvironment(
                environment: [:], folder: folder.path(""), isTerminal: onTerminal,
                isOutputTerminal: onTerminal, readInput: { _ in nil }, ask: { _ in "" },
                writeOutput: { bytes in output.withLock { $0 += bytes } }, clock: .system,
                random: .system)
            let files = LocalFiles(invocation, process, ProgressLine(process))
            #expect(files.tell(progress))
            return String(decoding: output.withLock { $0 }, as: UTF8.self)
        }
        let (full, empty) = (String(repeating: "#", count: 15), String(repeating: "·", count: 15))
        #expect(
            shown("50 % 3 records", onTerminal: true)
                == "\r\u{1B}[K[\(full)\(empty)] 50 % 3 records")
        #expect(shown("3 records", onTerminal: true) == "\r\u{1B}[K3 records")
        #expect(shown("101 % 3 records", onTerminal: true) == "\r\u{1B}[K101 % 3 records")
        #expect(shown("50 % 3 records", onTerminal: false) == "")
    }

    @Test("A file of any length goes to the server and comes back, and is its user's alone")
    func roundTrip() throws {
        var random = SeededRandom("a file that is passed")
        let bytes = (0..<3_000_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        try Data(bytes).write(to: URL(filePath: folder.path("a")))
        let read = try ask(file: "a") { files in
            #expect(try files.size(of: "FILE") == 3_000_000)
            var got: [UInt8] = []
            while true {
                let piece = try files.read("FILE", at: Int64(got.count))
                if piece.isEmpty { break }
                got += piece
            }
            #expect(got == bytes)
        }
        #expect(read.error == "")
        let write = try ask(file: "b") { files in
            #expect(try files.size(of: "FILE") == nil)
            try files.write("FILE", at: 0, bytes)
            try files.write("FILE", at: 10, [1, 2, 3])
            try files.write("FILE.assets/one", at: 0, [7])
            try files.finish("FILE", size: 2_999_000)
        }
        #expect(write.error == "")
        let made = try Data(contentsOf: URL(filePath: folder.path("b")))
        #expect(made.count == 2_999_000 && Array(made[10..<13]) == [1, 2, 3])
        #expect(Array(made[13...]) == Array(bytes[13..<2_999_000]))
        #expect(try Data(contentsOf: URL(filePath: folder.path("b.assets/one"))) == Data([7]))
        for (name, mode) in ["b": 0o600, "b.assets/one": 0o600, "b.assets": 0o700] {
            let found = try FileManager.default.attributesOfItem(atPath: folder.path(name))
            #expect(found[.posixPermissions] as? Int == mode, "\(name)")
        }
    }

    @Test("A long file goes to the disk 4 MiB at a time, however long its pieces are")
    func stretches() {
        var offset: Int64 = 0
        var ends: [Int64] = []
        for count in [4_194_303, 1, 1_048_576, 1_048_576, 4_194_304, 9_000_000, 0, 5] {
            if FileSystem.endsStretch(at: offset, count: count) { ends.append(offset) }
            offset += Int64(count)
        }
        #expect(ends == [4_194_303, 6_291_456, 10_485_760])
    }

    @Test("A file that no argument names is neither read nor written")
    func others() throws {
        try Data("secret".utf8).write(to: URL(filePath: folder.path("other")))
        let names = [
            "other", "", "/etc/passwd", "FILE/../other", "FILE.assets/../other", "FILE.assets/",
            "FILE.assets/.x", "FILE.assets/a/b", "FILE.other/x", "data", "config",
            "FILE.assets/" + String(repeating: "x", count: 201), "FILE.assets/a\u{0}b",
        ]
        let answer = try ask(file: "a") { files in
            for name in names {
                #expect(throws: CommandFailure.self, "\(name)") { try files.size(of: name) }
                #expect(throws: CommandFailure.self, "\(name)") { try files.read(name, at: 0) }
                #expect(throws: CommandFailure.self, "\(name)") {
                    try files.write(name, at: 0, [1])
                }
                #expect(throws: CommandFailure.self, "\(name)") {
                    try files.finish(name, size: 0)
                }
            }
        }
        #expect(answer.error == "")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path(""))
        #expect(Set(left) == ["other"])
    }

    @Test("By a dash a command reads standard input and writes standard output, as they come")
    func dash() throws {
        let output = Mutex<[UInt8]>([])
        let answer = try ask(
            file: "-", input: [[1, 2], [3]], output: { bytes in output.withLock { $0 += bytes } }
        ) { files in
            #expect(try files.size(of: "FILE") == nil)
            #expect(try files.read("FILE", at: 0) == [1, 2])
            #expect(try files.read("FILE", at: 2) == [3])
            #expect(try files.read("FILE", at: 3).isEmpty)
            try files.write("FILE", at: 0, [4, 5])
            try files.print([6])
            #expect(throws: CommandFailure.self) { try files.write("FILE.assets/x", at: 0, [1]) }
        }
        #expect(answer.error == "")
        #expect(output.withLock { $0 } == [4, 5, 6])
    }

    @Test("What cannot be read there is said, and the command goes on as it likes")
    func failing() throws {
        let answer = try ask(file: "missing") { files in
            #expect(throws: CommandFailure.self) { try files.read("FILE", at: 0) }
            try files.write("FILE", at: 0, [1])
            #expect(try files.size(of: "FILE") == 1)
        }
        #expect(answer.error == "")
    }

    @Test("Commands that wait keep no other from running, and a server that stops ends them")
    func waiting() throws {
        let path = folder.path("control.sock")
        let ended = DispatchSemaphore(value: 0)
        let begun = DispatchSemaphore(value: 0)
        let server = try ControlServer(path: path) { request, _, caller in
            guard request.arguments == ["follow"] else { return CommandAnswer(status: 3) }
            begun.signal()
            while (try? caller.read("FILE", at: 0)) != nil {}
            ended.signal()
            return CommandAnswer(status: 0)
        }
        // More than may run at a time; none is answered what it asks.
        let callers = try (0..<20).map { _ in try LocalSocket.connect(to: path) }
        for caller in callers {
            try caller.send(ControlRequest(arguments: ["follow"], inputs: [:]).frame)
            _ = try caller.receive()
            #expect(begun.wait(timeout: .now() + .seconds(Wait.seconds)) == .success)
        }
        let answer = try ControlClient(path: path).run(
            ControlRequest(arguments: ["short"], inputs: [:]), secondsMax: 120)
        #expect(answer?.status == 3)
        server.close(withinSeconds: Wait.seconds)
        for _ in callers {
            #expect(ended.wait(timeout: .now() + .seconds(Wait.seconds)) == .success)
        }
    }

    @Test("Bytes that are no question are none")
    func garbage() throws {
        var random = SeededRandom("questions of garbage")
        let questions: [CallerFileRequest] = [
            .size(of: "FILE"), .read("FILE", at: 7, countMax: 9), .write("ü", at: 1 << 40, [1, 2]),
            .finish("", size: 3), .print([]), .print([9]),
        ]
        for question in questions { #expect(CallerFileRequest(question.bytes) == question) }
        for _ in 0..<20_000 {
            var bytes = random.one(of: questions).bytes
            for _ in 0..<random.below(4) {
                bytes[random.below(bytes.count)] = UInt8.random(in: 0...255, using: &random)
            }
            bytes = Array(bytes.prefix(random.below(bytes.count + 1)))
            // Whatever it is, it is read without a fault, and as itself.
            if let read = CallerFileRequest(bytes) {
                #expect(CallerFileRequest(read.bytes) == read)
            }
        }
        #expect(CallerFileRequest([UInt8]()) == nil)
    }
}
