import Foundation

extension CKSyncEngine {
    /// Changes that are sent together.
    public struct RecordZoneChangeBatch: Sendable {
        /// Records to save, if nobody has changed them meanwhile.
        public var recordsToSave: [CKRecord]
        /// Records to delete.
        public var recordIDsToDelete: [CKRecord.ID]
        /// Whether what concerns one zone is done whole or not at all.
        public var atomicByZone: Bool

        /// Takes what to send.
        public init(
            recordsToSave: [CKRecord] = [], recordIDsToDelete: [CKRecord.ID] = [],
            atomicByZone: Bool = false
        ) {
            self.recordsToSave = recordsToSave
            self.recordIDsToDelete = recordIDsToDelete
            self.atomicByZone = atomicByZone
        }

        /// Takes changes in their order, as many as one request may have.
        ///
        /// - Parameter recordProvider: gives the record to save; nil leaves the change waiting.
        /// - Returns: nil when there is nothing to send.
        public init?(
            pendingChanges: [PendingRecordZoneChange],
            recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
        ) async {
            self.init()
            for change in pendingChanges {
                guard count < CKDatabase.recordsPerRequestMax else { break }
                switch change {
                case .saveRecord(let id):
                    if let record = await recordProvider(id) { recordsToSave.append(record) }
                case .deleteRecord(let id): recordIDsToDelete.append(id)
                }
            }
            if count == 0 { return nil }
        }

        var count: Int { recordsToSave.count + recordIDsToDelete.count }

        /// The changes that are no longer waiting once the batch is under way.
        var changes: [PendingRecordZoneChange] {
            recordsToSave.map { .saveRecord($0.recordID) }
                + recordIDsToDelete.map { .deleteRecord($0) }
        }
    }
}
