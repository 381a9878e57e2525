import Configuration
import RequestRecords
import Synchronization

/// The lines of requests of one data folder: opened when somebody first asks for them.
final class RequestLines: Sendable {
    static let folderName = "requests"

    private struct State {
        var ring: RequestRing?
        var flush: (@Sendable () -> Void)?
    }

    private let path: String
    private let limits: RequestRing.Limits
    private let state = Mutex(State())

    init(in folder: String, _ limits: RequestRing.Limits) {
        path = "\(folder)/\(Self.folderName)"
        self.limits = limits
    }

    /// Says how what was taken so far can be searched; nil when nobody takes any more.
    func attach(flush: (@Sendable () -> Void)?) { state.withLock { $0.flush = flush } }

    /// Nil where nothing is kept.
    ///
    /// - Throws: `FileSystemFailure`.
    func ring() throws -> RequestRing? {
        guard limits.bytesMax > 0 else { return nil }
        return try state.withLock { state in
            if let ring = state.ring { return ring }
            let ring = try RequestRing(path, limits)
            state.ring = ring
            return ring
        }
    }

    /// Has all written that was taken so far; the last use of a server.
    func flush() { state.withLock { $0.flush }?() }

    /// As `ring`, with all that was taken so far.
    func current() throws -> RequestRing? {
        flush()
        return try ring()
    }
}

extension ServerConfiguration {
    /// How much is kept of requests.
    package var requestLimits: RequestRing.Limits {
        RequestRing.Limits(bytesMax: requests.bytesMax, daysMax: requests.daysMax)
    }
}
