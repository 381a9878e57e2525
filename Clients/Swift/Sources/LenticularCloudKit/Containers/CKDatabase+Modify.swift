import CloudKitWire
import Foundation

// Saving and deleting.
extension CKDatabase {
    /// Saves and deletes records, of several zones if need be.
    ///
    /// - Parameters:
    ///   - atomically: whether what concerns one zone is done whole or not at all. Zones stand for themselves, and a
    ///     default zone knows no such batches.
    /// - Returns: a result for each record; those that were saved are brought up to date in place.
    /// - Throws: `CKError` when nothing can be said of any record; `limitExceeded`, before anything is sent, for
    ///   more than 200 of one zone, and for more bytes than the server takes at once of what is to be done whole.
    @discardableResult
    public func modifyRecords(
        saving recordsToSave: [CKRecord] = [], deleting recordIDsToDelete: [CKRecord.ID] = [],
        savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
        atomically: Bool = true
    ) async throws -> (
        saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
        deleteResults: [CKRecord.ID: Result<Void, any Error>]
    ) {
        try await modifyRecords(
            saving: recordsToSave, deleting: recordIDsToDelete,
            RecordBatch.Manner(policy: savePolicy, isAtomic: atomically))
    }

    func modifyRecords(
        saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
        _ manner: RecordBatch.Manner
    ) async throws -> ModifyRecordsResults {
        var saved: [CKRecord.ID: Result<CKRecord, any Error>] = [:]
        var deleted: [CKRecord.ID: Result<Void, any Error>] = [:]
        let batches = RecordBatch.byZone(saving: recordsToSave, deleting: recordIDsToDelete)
        if let large = batches.first(where: { $0.count > Self.recordsPerRequestMax }) {
            throw CKError(
                .limitExceeded,
                "\(large.count) records of one zone; the limit is \(Self.recordsPerRequestMax)")
        }
        for var batch in batches {
            do {
                var unsent = try await unsealableValues(of: batch.saves)
                let rest = batch.saves.filter { unsent[$0.recordID] == nil }
                unsent.merge(try await sendFiles(of: rest)) { $1 }
                for (id, error) in unsent { saved[id] = .failure(error) }
                if !unsent.isEmpty, manner.isAtomic, isAtomic(batch.zone) {
                    batch.fail(beside: unsent, &saved, &deleted)
                    continue
                }
                batch.saves.removeAll { unsent[$0.recordID] != nil }
                guard batch.count > 0 else { continue }
                try await carryOut(batch, manner, &saved, &deleted)
            } catch let error as CKError where batches.count > 1 || error.isAboutZone {
                // The other zones have their own fate.
                batch.fail(with: error, &saved, &deleted)
            }
        }
        return (saved, deleted)
    }

    /// Sends a batch; one with more bytes than the server takes goes in halves, where it need not be done whole.
    private func carryOut(
        _ batch: RecordBatch, _ manner: RecordBatch.Manner,
        _ saved: inout [CKRecord.ID: Result<CKRecord, any Error>],
        _ deleted: inout [CKRecord.ID: Result<Void, any Error>]
    ) async throws {
        do {
            var batch = batch
            var own = try await carryOutOnce(batch, manner, &saved, &deleted)
            for _ in 0..<Self.ownWritesMax where !own.isEmpty {
                if !(manner.isAtomic && isAtomic(batch.zone)) {
                    batch = RecordBatch(
                        zone: batch.zone, saves: batch.saves.filter { own[$0.recordID] != nil })
                }
                batch.standing.merge(own) { $1 }
                own = try await carryOutOnce(batch, manner, &saved, &deleted)
            }
        } catch let error as CKError where error.code == .limitExceeded && batch.count > 1 {
            // Answers that are kept are kept in the order of whole requests.
            let isWhole = manner.isAtomic && isAtomic(batch.zone)
            guard !isWhole, settings.journal == nil else { throw error }
            for half in batch.halves {
                do {
                    try await carryOut(half, manner, &saved, &deleted)
                } catch let error as CKError {
                    // What the other half has come to stays known.
                    half.fail(with: error, &saved, &deleted)
                }
            }
        }
    }

    /// How often in a row a batch may meet a former write of one's own.
    private static let ownWritesMax = 3

    /// - Returns: the records that were refused because a write of one's own, whose answer was lost, stands: each
    ///   with the version that it has made.
    private func carryOutOnce(
        _ batch: RecordBatch, _ manner: RecordBatch.Manner,
        _ saved: inout [CKRecord.ID: Result<CKRecord, any Error>],
        _ deleted: inout [CKRecord.ID: Result<Void, any Error>]
    ) async throws -> [CKRecord.ID: String] {
        // Noted before: whatever becomes of the request, a record that carries this name is this one.
        for record in batch.saves { record.unansweredWrites.insert(manner.writeID) }
        let answer = try await send(batch, manner)
        return try await note(answer, batch, &saved, &deleted)
    }

    /// Whether a zone knows batches that are done whole or not at all.
    private func isAtomic(_ zone: CKRecordZone.ID) -> Bool {
        databaseScope != .public && zone.zoneName != CKRecordZone.ID.defaultZoneName
    }

    private func send(
        _ batch: RecordBatch, _ manner: RecordBatch.Manner
    ) async throws -> JSONView {
        let sealed = try await sealedValues(of: batch.saves)
        return try await call("records/modify", named: manner.writeID) { json in
            json.zone(batch.zone)
            if isAtomic(batch.zone) {
                json.key("atomic")
                json.bool(manner.isAtomic)
            }
            if let data = manner.clientData {
                json.member("clientChangeTokenData", data.base64EncodedString())
            }
            json.key("operations")
            try json.array { json in
                for record in batch.saves {
                    try json.save(
                        record, manner.policy, onto: batch.standing[record.recordID],
                        sealed[record.recordID] ?? [:])
                }
                for id in batch.deletions { json.deletion(of: id) }
            }
        }
    }

    private func note(
        _ answer: JSONView, _ batch: RecordBatch,
        _ saved: inout [CKRecord.ID: Result<CKRecord, any Error>],
        _ deleted: inout [CKRecord.ID: Result<Void, any Error>]
    ) async throws -> [CKRecord.ID: String] {
        let reader = try await reader()
        var items = Array(answer["records"]?.elements ?? answer.elements)[...]
        var own: [CKRecord.ID: String] = [:]
        for record in batch.saves {
            let item = items.popFirst()
            own[record.recordID] = item?.tag(of: record.unansweredWrites)
            let result = reader.saved(item, record)
            if case .failure(let error as CKError) = result, let theirs = error.serverRecord {
                try await openValues(of: [theirs])
            }
            saved[record.recordID] = result
        }
        for id in batch.deletions {
            let fault = items.popFirst().flatMap { WireFault($0) }
            deleted[id] = fault.map { .failure(CKError($0, of: .item)) } ?? .success(())
        }
        return own
    }
}

extension JSONView {
    /// The version of the record as the server has it, in a conflict, when one of these writes has made it.
    fileprivate func tag(of writes: Set<String>) -> String? {
        guard self["serverErrorCode"]?.isString("CONFLICT") == true,
            let record = self["serverRecord"],
            let device = record["modified"]?["deviceID"]?.string,
            let name = device.split(separator: "/").last, writes.contains(String(name))
        else { return nil }
        return record["recordChangeTag"]?.string
    }
}

/// What one request changes in one zone.
struct RecordBatch {
    /// How a batch is saved.
    struct Manner: Sendable {
        var policy = CKModifyRecordsOperation.RecordSavePolicy.ifServerRecordUnchanged
        var isAtomic = true
        /// What the device leaves for itself in the zone's feed.
        var clientData: Data?
        /// What the records are known by, when the answer is lost; the same for all tries of one write.
        var writeID = Self.freshWriteID()

        static func freshWriteID() -> String {
            String(UInt64.random(in: 0...UInt64.max), radix: 36)
        }
    }

    let zone: CKRecordZone.ID
    var saves: [CKRecord] = []
    var deletions: [CKRecord.ID] = []
    /// Versions that former writes of one's own have made: what is saved goes onto them.
    var standing: [CKRecord.ID: String] = [:]

    var count: Int { saves.count + deletions.count }

    /// The batch as two.
    var halves: [RecordBatch] {
        let half = count / 2
        let first = RecordBatch(
            zone: zone, saves: Array(saves.prefix(half)),
            deletions: Array(deletions.prefix(max(0, half - saves.count))), standing: standing)
        return [
            first,
            RecordBatch(
                zone: zone, saves: Array(saves.dropFirst(first.saves.count)),
                deletions: Array(deletions.dropFirst(first.deletions.count)), standing: standing),
        ]
    }

    /// Notes that nothing of the batch is done.
    func fail(
        with error: CKError, _ saved: inout [CKRecord.ID: Result<CKRecord, any Error>],
        _ deleted: inout [CKRecord.ID: Result<Void, any Error>]
    ) {
        for record in saves { saved[record.recordID] = .failure(error) }
        for id in deletions { deleted[id] = .failure(error) }
    }

    /// Notes that nothing of the batch is done, because some of its records could not be sent.
    func fail(
        beside failed: [CKRecord.ID: CKError],
        _ saved: inout [CKRecord.ID: Result<CKRecord, any Error>],
        _ deleted: inout [CKRecord.ID: Result<Void, any Error>]
    ) {
        let error = CKError(.batchRequestFailed, "another record of the atomic batch failed")
        for record in saves where failed[record.recordID] == nil {
            saved[record.recordID] = .failure(error)
        }
        for id in deletions { deleted[id] = .failure(error) }
    }

    /// Batches in the order in which their zones are first named.
    static func byZone(saving: [CKRecord], deleting: [CKRecord.ID]) -> [RecordBatch] {
        var batches: [RecordBatch] = []
        var places: [CKRecordZone.ID: Int] = [:]
        func place(_ zone: CKRecordZone.ID) -> Int {
            if let known = places[zone] { return known }
            places[zone] = batches.count
            batches.append(RecordBatch(zone: zone))
            return batches.count - 1
        }
        for record in saving { batches[place(record.recordID.zoneID)].saves.append(record) }
        for id in deleting { batches[place(id.zoneID)].deletions.append(id) }
        return batches
    }
}

extension CKError {
    /// Whether a request failed for the zone it was about, so that every record of it did.
    fileprivate var isAboutZone: Bool { code == .zoneNotFound || code == .userDeletedZone }
}

extension AnswerReader {
    fileprivate func saved(
        _ item: JSONView?, _ record: CKRecord
    ) -> Result<CKRecord, any Error> {
        guard let item else {
            return .failure(CKError(.internalError, "the answer lacks the record"))
        }
        if let fault = WireFault(item) { return .failure(failure(fault, of: record)) }
        guard let answered = self.record(item, as: record.recordID) else {
            return .failure(CKError(.internalError, "an answer without a record"))
        }
        record.becomeSaved(as: answered)
        return .success(record)
    }

    private func failure(_ fault: WireFault, of record: CKRecord) -> CKError {
        var info: [String: Any] = [:]
        if fault.code == "CONFLICT" || fault.code == "EXISTS" {
            info[CKRecordChangedErrorClientRecordKey] = record
            info[CKRecordChangedErrorAncestorRecordKey] = record.ancestor
            info[CKRecordChangedErrorServerRecordKey] = fault.serverRecord.flatMap {
                self.record($0, as: record.recordID)
            }
        }
        return CKError(fault, of: .item, userInfo: info)
    }
}

extension CKRecord {
    /// The record as it was last fetched or saved.
    fileprivate var ancestor: CKRecord? {
        guard let fetched else { return nil }
        let record = CKRecord(recordType: recordType, recordID: recordID)
        record.adopt(fetched)
        return record
    }
}

extension JSONText {
    fileprivate mutating func save(
        _ record: CKRecord, _ policy: CKModifyRecordsOperation.RecordSavePolicy,
        onto standing: String?, _ sealed: [CKRecord.FieldKey: [UInt8]?]
    ) throws {
        let isChecked = policy == .ifServerRecordUnchanged
        let tag = record.recordChangeTag
        let base = standing ?? tag
        try object { json in
            json.member(
                "operationType", isChecked ? (base == nil ? "create" : "update") : "forceUpdate")
            json.key("record")
            try json.object { json in
                json.member("recordName", record.recordID.recordName)
                json.member("recordType", record.recordType)
                if isChecked || record is CKShare, let base { json.member("recordChangeTag", base) }
                try json.fields(of: record, all: policy == .allKeys || tag == nil, sealed)
                if record.isParentChanged || tag == nil { json.parent(of: record) }
                if let share = record as? CKShare { json.shareDetails(of: share) }
            }
        }
    }

    private mutating func fields(
        of record: CKRecord, all: Bool, _ sealed: [CKRecord.FieldKey: [UInt8]?]
    ) throws {
        let keys = all ? record.changed.union(record.values.keys) : record.changed
        key("fields")
        try object { json in
            for key in keys.sorted() {
                json.key(key)
                try json.field(record.values[key], in: record.recordID.zoneID)
            }
            for (key, bytes) in sealed.sorted(by: { $0.key < $1.key }) {
                json.key(key)
                json.sealedField(bytes)
            }
        }
    }

    private mutating func parent(of record: CKRecord) {
        guard let parent = record.parent else {
            if record.recordChangeTag != nil {
                key("parent")
                null()
            }
            return
        }
        key("parent")
        object { $0.member("recordName", parent.recordID.recordName) }
    }

    fileprivate mutating func deletion(of id: CKRecord.ID) {
        object { json in
            json.member("operationType", "forceDelete")
            json.key("record")
            json.object { $0.member("recordName", id.recordName) }
        }
    }

    /// An encrypted value is bytes to the server, whatever it is to the app.
    private mutating func sealedField(_ bytes: [UInt8]?) {
        object { json in
            json.key("value")
            guard let bytes else { return json.null() }
            json.string(Data(bytes).base64EncodedString())
            json.member("type", "BYTES")
            json.key("isEncrypted")
            json.bool(true)
        }
    }
}
