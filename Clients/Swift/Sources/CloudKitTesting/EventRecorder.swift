import CloudKitWire
import Foundation
import LenticularCloudKit

/// Stands between a sync engine and an app's delegate, and writes down every event as a line of text.
///
/// Keep it as long as the engine, which does not keep its delegate alive.
public final class EventRecorder: CKSyncEngineDelegate {
    private let lines = Locked<[String]>([])
    private let waiters = Waiters()
    private let delegate: any CKSyncEngineDelegate

    /// - Parameter delegate: gets everything that the recorder gets.
    public init(forwardingTo delegate: any CKSyncEngineDelegate) { self.delegate = delegate }

    /// The events since the last call; states are left out, since they come after everything.
    public func takeEvents() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    /// The events since the last call, up to the next that begins with a text; waits for it.
    ///
    /// - Parameter last: such as `didFetchChanges`, or `sentRecordZoneChanges` for one with any names.
    /// - Throws: `NothingCame` when there was none in so many seconds.
    public func events(until last: String, within seconds: Double = 20) async throws -> [String] {
        let hasCome = await waiters.wait(within: seconds) {
            self.lines.withLock { $0.contains { $0.hasPrefix(last) } }
        }
        guard hasCome else { throw NothingCame(awaited: last, instead: takeEvents()) }
        return lines.withLock { lines in
            let count = (lines.firstIndex { $0.hasPrefix(last) } ?? lines.count - 1) + 1
            defer { lines.removeFirst(count) }
            return Array(lines.prefix(count))
        }
    }

    /// Writes the event down and hands it on.
    public func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        if case .stateUpdate = event {
        } else {
            lines.withLock { $0.append(event.description) }
            waiters.look()
        }
        await delegate.handleEvent(event, syncEngine: syncEngine)
    }

    /// Asks the app's delegate.
    public func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await delegate.nextRecordZoneChangeBatch(context, syncEngine: syncEngine)
    }

    /// Asks the app's delegate.
    public func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        await delegate.nextFetchChangesOptions(context, syncEngine: syncEngine)
    }
}
