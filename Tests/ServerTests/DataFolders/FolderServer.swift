import CloudModel
import Configuration
import Foundation
import Synchronization
import Testing

@testable import Commands
@testable import Control
@testable import Server

/// A server in this process on a data folder, with a clock that the test sets.
final class FolderServer {
    /// A time of day that the test sets.
    final class Time: Sendable {
        let now: Mutex<Milliseconds>

        init(_ now: Milliseconds) { self.now = Mutex(now) }
    }

    let server: RunningServer
    let time: Time
    let connection: WireConnection

    /// Opens the folder and serves.
    init(
        data: String, at now: Milliseconds = 1_800_000_000_000, console: ConsoleAccess? = nil,
        configure: (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        let time = Time(now)
        var process = ProcessEnvironment.ofProcess()
        process.clock = Clock { time.now.withLock { $0 } }
        var configuration = ServerConfiguration()
        configuration.listen = ["127.0.0.1:0"]
        configuration.storage.reserveBytes = 0
        (configuration.limits.queryMillisecondsMax, configuration.limits.indexWaitMilliseconds) =
            (600_000, 600_000)
        configure(&configuration)
        let folder = try Self.open(data, configuration, process)
        do {
            server = try RunningServer(
                folder: folder, log: Log(format: .json, descriptor: -1, clock: .system),
                console: console, commands: CommandLineProgram.answer)
        } catch {
            folder.close()
            throw error
        }
        self.time = time
        connection = WireConnection(address: try #require(server.addresses.first).description)
    }

    var folder: DataFolder { server.folder }

    /// What a busy machine held up comes out as anything else: a test that means a limit of time sets it.
    private static func letTake(time limits: inout ServiceLimits) {
        (limits.writerMillisecondsMax, limits.decisionAttemptsMax) = (600_000, 1_000)
        limits.sharedPageHoldMilliseconds = 30_000
    }

    private static func open(
        _ data: String, _ configuration: ServerConfiguration, _ process: ProcessEnvironment
    ) throws -> DataFolder {
        try DataFolder.make(data)
        let folder = try DataFolder.open(
            data, configuration: configuration, process: process, limit: letTake
        ) { Issue.record("commit of unknown outcome: \($0)") }
        guard let folder else { throw CommandFailure("\(data) is held") }
        return folder
    }

    /// Sends JSON and reads JSON.
    func ask(
        _ target: String, _ body: [String: Any]
    ) throws -> (status: Int, answer: [String: Any]) {
        let text = try JSONSerialization.data(withJSONObject: body)
        let answer = connection.send("POST", target, String(decoding: text, as: UTF8.self))
        guard case .answered(let status, let bytes) = answer else {
            Issue.record("no answer to \(target): \(answer)")
            return (0, [:])
        }
        let object = try JSONSerialization.jsonObject(with: bytes)
        return (status, object as? [String: Any] ?? [:])
    }

    /// Stops as a signal would have it.
    func stop(withinSeconds seconds: Int = 5) { server.drain(withinSeconds: seconds) }
}
