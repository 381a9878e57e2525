import CloudKitWire
import Foundation

// Records by their IDs.
extension CKDatabase {
    /// How many records one request may name; more are asked for in several.
    static let recordsPerRequestMax = 200

    /// - Throws: `CKError`, `unknownItem` when there is no such record.
    @discardableResult
    public func record(for recordID: CKRecord.ID) async throws -> CKRecord {
        guard let result = try await records(for: [recordID])[recordID] else {
            throw CKError(.internalError, "the answer lacks the record")
        }
        return try result.get()
    }

    /// - Parameter desiredKeys: the fields to fetch; nil for all.
    /// - Throws: `CKError` when nothing can be said of any record.
    @discardableResult
    public func records(
        for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil
    ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
        var found: [CKRecord.ID: Result<CKRecord, any Error>] = [:]
        for (zone, ids) in Dictionary(grouping: Set(ids), by: \.zoneID) {
            for start in stride(from: 0, to: ids.count, by: Self.recordsPerRequestMax) {
                let part = Array(ids[start..<min(start + Self.recordsPerRequestMax, ids.count)])
                try await lookUp(part, in: zone, desiredKeys, into: &found)
            }
        }
        return found
    }

    private func lookUp(
        _ ids: [CKRecord.ID], in zone: CKRecordZone.ID, _ desiredKeys: [CKRecord.FieldKey]?,
        into found: inout [CKRecord.ID: Result<CKRecord, any Error>]
    ) async throws {
        let answer: JSONView
        do {
            answer = try await call("records/lookup") { json in
                json.zone(zone)
                json.desiredKeys(desiredKeys)
                json.key("records")
                json.array { json in
                    for id in ids { json.object { $0.member("recordName", id.recordName) } }
                }
            }
        } catch let error as CKError where error.code == .zoneNotFound {
            for id in ids { found[id] = .failure(error) }
            return
        }
        let reader = try await reader()
        for (id, item) in zip(ids, answer["records"]?.elements ?? answer.elements) {
            found[id] = await completed(reader.result(item, as: id))
        }
    }

    /// Fetches the files of a record, without which it counts as not fetched, and opens what is encrypted.
    func completed(_ result: Result<CKRecord, any Error>) async -> Result<CKRecord, any Error> {
        guard case .success(let record) = result, record.isIncomplete else { return result }
        do {
            try await fetchFiles(of: [record])
            try await openValues(of: [record])
            return result
        } catch {
            return .failure(error)
        }
    }

    /// Saves a record, if nobody has changed it since it was fetched.
    ///
    /// - Returns: the record that was passed in, brought up to date.
    /// - Throws: `CKError`, `serverRecordChanged` with three records when somebody has.
    @discardableResult
    public func save(_ record: CKRecord) async throws -> CKRecord {
        let saved = try await modifyRecords(saving: [record], deleting: [])
        guard let result = saved.saveResults[record.recordID] else {
            throw CKError(.internalError, "the answer lacks the record")
        }
        return try result.get()
    }

    /// Deletes a record, under the name that the talk of 2021 has for it.
    ///
    /// - Throws: `CKError`, as `deleteRecord(withID:)`.
    @discardableResult
    public func deleteRecord(with recordID: CKRecord.ID) async throws -> CKRecord.ID {
        try await deleteRecord(withID: recordID)
    }

    /// Deletes a record; one that is not there counts as deleted.
    ///
    /// - Throws: `CKError`, `zoneNotFound`, `permissionFailure`, `referenceViolation` where others need it.
    @discardableResult
    public func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
        let done = try await modifyRecords(saving: [], deleting: [recordID])
        try done.deleteResults[recordID]?.get()
        return recordID
    }
}

extension JSONText {
    mutating func zone(_ zone: CKRecordZone.ID) {
        key("zoneID")
        zoneID(zone)
    }

    mutating func desiredKeys(_ keys: [CKRecord.FieldKey]?) {
        guard let keys else { return }
        key("desiredKeys")
        array { json in for key in keys { json.string(key) } }
    }
}

extension AnswerReader {
    /// A record of an answer, or why it is not there.
    func result(_ item: JSONView, as id: CKRecord.ID) -> Result<CKRecord, any Error> {
        if let fault = WireFault(item) { return .failure(CKError(fault, of: .item)) }
        guard let record = record(item, as: id) else {
            return .failure(CKError(.internalError, "an answer without a record"))
        }
        return .success(record)
    }
}

extension CKRecord {
    /// Whether files are still to be fetched, or values to be opened.
    fileprivate var isIncomplete: Bool {
        if !sealed.isEmpty { return true }
        return values.values.contains { value in
            switch value {
            case .asset(let asset): asset.fileURL == nil
            case .list(let members, .asset?): !members.isEmpty
            default: false
            }
        }
    }
}
