import RequestRecords
import Synchronization

/// The lines of requests: opened when somebody first asks for them.
final class RequestLines: Sendable {
    static let folderName = "requests"

    private struct State {
        var storage: (any RequestStorage)?
        var flush: (@Sendable () -> Void)?
    }

    private let open: @Sendable () throws -> (any RequestStorage)?
    private let state = Mutex(State())

    /// - Parameter open: returns nil where nothing is kept.
    init(open: @escaping @Sendable () throws -> (any RequestStorage)?) { self.open = open }

    /// Says how what was taken so far can be searched; nil when nobody takes any more.
    func attach(flush: (@Sendable () -> Void)?) { state.withLock { $0.flush = flush } }

    /// Nil where nothing is kept.
    ///
    /// - Throws: what the file system or the database reports.
    func storage() throws -> (any RequestStorage)? {
        try state.withLock { state in
            if let storage = state.storage { return storage }
            state.storage = try open()
            return state.storage
        }
    }

    /// Has all written that was taken so far; the last use of a server.
    func flush() { state.withLock { $0.flush }?() }

    /// As `storage`, with all that was taken so far.
    func current() throws -> (any RequestStorage)? {
        flush()
        return try storage()
    }
}
