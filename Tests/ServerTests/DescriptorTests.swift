import Foundation
import Server
import Testing

@Suite("Open files where there may be few")
struct DescriptorTests {
    @Test(
        "Connections get what files do not need, and a limit that is too low is told",
        arguments: [
            (64, 20, 20_000, 16), (64, 34, 20_000, 5), (64, 38, 20_000, nil),
            (1_024, 24, 20_000, 596),
            (20_000, 30, 20_000, 17_666), (1_000_000, 30, 20_000, 20_000), (64, 20, 3, 3),
            (10, 20, 5, nil),
        ] as [(Int, Int, Int, Int?)])
    func room(limit: Int, inUse: Int, wanted: Int, expected: Int?) throws {
        let room = DescriptorRoom(limit: limit, inUse: inUse)
        guard let expected else {
            let failure = #expect(throws: CommandFailure.self) {
                try room.connections(wanted: wanted)
            }
            #expect(
                failure.map { "\($0)" }?.contains("the limit on open files is \(limit)") == true)
            return
        }
        #expect(try room.connections(wanted: wanted) == expected)
    }

    @Test(
        "With 64 descriptors, all connections taken, uploads and commands go on and nothing spins")
    func few() throws {
        let folder = try TemporaryFolder()
        let server = try ServerProcess(
            data: folder.path("data"), under: ["/bin/sh", "-c", "ulimit -n 64; exec \"$@\"", "sh"])
        let port = try #require(server.address.split(separator: ":").last)
        // Twice as many as the server has descriptors, each with half a head.
        let crowd = Process()
        crowd.executableURL = URL(fileURLWithPath: "/bin/bash")
        crowd.arguments = [
            "-c",
            "for i in $(seq 100); do exec {d}<>/dev/tcp/127.0.0.1/\(port) && printf 'GET / ' >&$d; "
                + "done 2>/dev/null; echo there; read",
        ]
        let (input, output) = (Pipe(), Pipe())
        crowd.standardInput = input
        crowd.standardOutput = output
        crowd.standardError = FileHandle.nullDevice
        try crowd.run()
        defer { crowd.terminate() }
        #expect(output.fileHandleForReading.availableData.count > 0)
        let before = try processorTicks(of: server.identifier)
        #expect(try server.command("container", "create", "iCloud.org.example.Tea").status == 0)
        #expect(try server.command("container", "list").status == 0)
        // A loop that spins takes all of a processor's time, a hundred ticks a second.
        let began = Date()
        while Date().timeIntervalSince(began) < 1 { _ = try server.command("container", "list") }
        #expect(try processorTicks(of: server.identifier) - before < 150)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
    }

    private func processorTicks(of process: Int32) throws -> Int {
        let line = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        let columns = line.split(separator: ")").last?.split(separator: " ") ?? []
        guard columns.count > 12, let user = Int(columns[11]), let system = Int(columns[12]) else {
            return 0
        }
        return user + system
    }
}
