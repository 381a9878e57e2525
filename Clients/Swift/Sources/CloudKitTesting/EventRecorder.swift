import Foundation
import LenticularCloudKit

/// Stands between a sync engine and an app's delegate, and writes down every event as a line of text.
///
/// Keep it as long as the engine, which does not keep its delegate alive.
public final class EventRecorder: CKSyncEngineDelegate, @unchecked Sendable {
    // Unchecked: the lines are behind the lock.
    private let lock = NSLock()
    private var lines: [String] = []
    private let delegate: any CKSyncEngineDelegate

    /// - Parameter delegate: gets everything that the recorder gets.
    public init(forwardingTo delegate: any CKSyncEngineDelegate) { self.delegate = delegate }

    /// The events since the last call; states are left out, since they come after everything.
    public func takeEvents() -> [String] {
        lock.withLock {
            defer { lines = [] }
            return lines
        }
    }

    /// Writes the event down and hands it on.
    public func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        if case .stateUpdate = event {
        } else {
            lock.withLock { lines.append(event.description) }
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
