import Foundation
import LenticularCloudKit

/// Tells of every change in the book, by a sync engine.
final class Follower: CKSyncEngineDelegate {
    private let tell: @Sendable (String) -> Void

    init(_ tell: @escaping @Sendable (String) -> Void) { self.tell = tell }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard case .fetchedRecordZoneChanges(let changes) = event else { return }
        for change in changes.modifications where change.record.recordType == "Contact" {
            tell("changed: \(Contact(record: change.record).line)")
        }
        for deletion in changes.deletions where deletion.recordType == "Contact" {
            tell("gone: \(deletion.recordID.recordName)")
        }
    }

    /// This app follows only; it saves by itself.
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        nil
    }
}
