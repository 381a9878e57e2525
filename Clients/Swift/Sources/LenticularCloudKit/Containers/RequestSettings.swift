import CloudKitTransport
import Foundation

/// How long requests wait, and whether what passes is tried again within them.
struct RequestSettings: Sendable {
    /// How long to wait while nothing comes or goes.
    var requestSeconds: TimeInterval = 60
    /// How long all tries of one request may take together; nil for as long as it needs.
    var resourceSeconds: TimeInterval?
    /// Whether failures of the network are waited out.
    var isPatient = false
    /// Where the answers of a long-lived operation are kept.
    var journal: OperationJournal?
    var sleep: @Sendable (Double) async throws -> Void = {
        try await Task.sleep(nanoseconds: UInt64($0 * 1e9))
    }

    /// Of methods that are not operations: somebody waits for them.
    static let convenience = RequestSettings()

    private static let firstPauseSeconds = 1.0
    private static let pauseSecondsMax = 60.0
    private static let weekSeconds: TimeInterval = 604_800

    init() {}

    /// What was chosen, property by property: by the operation itself, else by its group.
    init(_ operation: CKOperation.Configuration?, group: CKOperation.Configuration?) {
        let chosen = operation?.chosen ?? .init()
        let common = group?.chosen ?? .init()
        requestSeconds = chosen.requestSeconds ?? common.requestSeconds ?? 60
        let quality = chosen.quality ?? common.quality ?? .default
        let isUrgent = quality == .userInteractive || quality == .userInitiated
        isPatient = quality == .utility || quality == .background
        resourceSeconds =
            chosen.resourceSeconds ?? common.resourceSeconds ?? (isUrgent ? nil : Self.weekSeconds)
    }

    /// Tries something until it succeeds, fails for good, or takes too long.
    ///
    /// - Parameter body: gets how long it may wait; what it changes must be the same when it is done twice.
    /// - Throws: `CKError`.
    func attempt<Value>(_ body: (TimeLimits) async throws -> Value) async throws -> Value {
        let end = resourceSeconds.map { Date(timeIntervalSinceNow: $0) }
        var pause = Self.firstPauseSeconds
        while true {
            let left = end?.timeIntervalSinceNow
            do {
                return try await body(
                    TimeLimits(
                        silenceSeconds: requestSeconds, wholeSeconds: left.map { max(0, $0) }))
            } catch {
                let error = CKError(error)
                let wait = error.retryAfterSeconds ?? pause
                let isInTime = end.map { wait < $0.timeIntervalSinceNow } ?? true
                guard isPatient, error.isWaitedOut, isInTime else { throw error }
                do {
                    try await sleep(wait * Double.random(in: 1...1.25))
                } catch {
                    throw CKError(error)
                }
                pause = min(Self.pauseSecondsMax, pause * 2)
            }
        }
    }
}

extension CKError {
    /// Whether it passes by itself.
    fileprivate var isWaitedOut: Bool {
        switch code {
        case .networkFailure, .networkUnavailable, .requestRateLimited, .serverResponseLost,
            .serviceUnavailable, .zoneBusy:
            true
        default: false
        }
    }
}
