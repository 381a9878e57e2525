import Files
import Storage
import Synchronization
import Telemetry

/// The database of the telemetry of a data folder, opened when it is first asked for.
///
/// Nothing else depends on it: a server whose telemetry cannot be opened serves without.
final class TelemetryFile: Sendable {
    private struct State {
        var storage: (any TelemetryStorage)?
        var isClosed = false
    }

    private let path: String
    private let open: @Sendable (String) throws -> any TelemetryStorage
    private let state = Mutex(State())

    init(
        _ path: String, open: @escaping @Sendable (String) throws -> any TelemetryStorage
    ) {
        self.path = path
        self.open = open
    }

    /// - Throws: `EngineFault` for a file of another version; what SQLite reports.
    func storage() throws -> any TelemetryStorage {
        try state.withLock { state in
            if let storage = state.storage { return storage }
            guard !state.isClosed else { throw TelemetryEnded() }
            let storage: any TelemetryStorage
            do { storage = try open(path) } catch let fault as any EngineFault where fault.isDamage
            {
                try setAside()
                storage = try open(path)
            }
            state.storage = storage
            return storage
        }
    }

    func close() {
        state.withLock { state in
            state.isClosed = true
            state.storage?.close()
            state.storage = nil
        }
    }

    /// Keeps a damaged file beside the new one, to be looked at; the one before goes.
    private func setAside() throws {
        try FileSystem.move(path, to: "\(path).damaged")
        for end in ["-wal", "-shm"] { FileSystem.removeFile(path + end) }
    }
}

/// Telemetry was asked for after the end.
struct TelemetryEnded: Error, CustomStringConvertible {
    var description: String { "the server ends" }
}
