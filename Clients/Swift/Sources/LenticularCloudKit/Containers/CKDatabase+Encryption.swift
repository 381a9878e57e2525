import Foundation

// Values that are encrypted before they are sent.
extension CKDatabase {
    /// Encrypts what was set in the encrypted parts of records; nil clears a field.
    ///
    /// The first values of an account make its key.
    ///
    /// - Throws: `CKError` `accountTemporarilyUnavailable` while another device alone has the key.
    func sealedValues(
        of records: [CKRecord]
    ) async throws -> [CKRecord.ID: [CKRecord.FieldKey: [UInt8]?]] {
        let concerned = records.filter { !$0.encrypted.changed.isEmpty }
        guard !concerned.isEmpty else { return [:] }
        let key = try await CKEncryption(access).keyForWriting()
        let cipher = ValueCipher(key: key)
        let user = await caller.known
        var sealed: [CKRecord.ID: [CKRecord.FieldKey: [UInt8]?]] = [:]
        for record in concerned {
            sealed[record.recordID] = try Dictionary(
                uniqueKeysWithValues: record.encrypted.changed.map { key in
                    let place = ValueContext(record, key, in: access.container, user: user)
                    return (
                        key, try record.encrypted.values[key].map { try cipher.seal($0, at: place) }
                    )
                })
        }
        return sealed
    }

    /// Decrypts what this device has the key for; the rest reads nil, and is never sent back.
    func openValues(of records: [CKRecord]) async throws {
        let concerned = records.filter { !$0.sealed.isEmpty }
        guard !concerned.isEmpty, let key = try await access.keys.load() else { return }
        let cipher = ValueCipher(key: key)
        let user = await caller.known
        for record in concerned {
            for (key, sealed) in record.sealed {
                let place = ValueContext(record, key, in: access.container, user: user)
                record.encrypted.opened(
                    cipher.open([UInt8](sealed), at: place), forKey: key)
            }
        }
    }

    /// Parents that are followed to find out whether a record is shared.
    private static let parentsMax = 50

    /// The records whose encrypted values cannot be sent: those that others would get, and all on a device that
    /// lacks the account's key, each with its error.
    ///
    /// - Throws: `CKError` when it cannot be found out.
    func unsealableValues(of records: [CKRecord]) async throws -> [CKRecord.ID: CKError] {
        var refused = try await refusedValues(of: records)
        let rest = records.filter {
            !$0.encrypted.changed.isEmpty && refused[$0.recordID] == nil
        }
        guard !rest.isEmpty else { return refused }
        do {
            _ = try await CKEncryption(access).keyForWriting()
        } catch let error as CKError where error.code == .accountTemporarilyUnavailable {
            for record in rest { refused[record.recordID] = error }
        }
        return refused
    }

    /// The records that people without keys would get, each with `invalidArguments`.
    ///
    /// - Throws: `CKError` when it cannot be found out.
    private func refusedValues(of records: [CKRecord]) async throws -> [CKRecord.ID: CKError] {
        let concerned = records.filter { !$0.encrypted.changed.isEmpty }
        guard !concerned.isEmpty else { return [:] }
        var refused = concerned
        if databaseScope == .private {
            let shared = try await sharedZones(of: concerned)
            let known = try await withParents(of: concerned, among: records)
            refused = concerned.filter {
                $0 is CKShare || shared.contains($0.recordID.zoneID) || Self.isShared($0, known)
            }
        }
        return Dictionary(refused.map { ($0.recordID, Self.refusal($0)) }) { $1 }
    }

    private static func refusal(_ record: CKRecord) -> CKError {
        CKError(
            .invalidArguments,
            "encryptedValues: \(record.recordID.recordName) is shared or public, and there are no "
                + "keys for others yet; nothing of it was sent")
    }

    private func sharedZones(of records: [CKRecord]) async throws -> Set<CKRecordZone.ID> {
        let zones = Set(records.map(\.recordID.zoneID))
            .filter { $0.zoneName != CKRecordZone.ID.defaultZoneName }
        let found = try await recordZones(for: Array(zones))
        return zones.filter { zone in
            if case .success(let zone)? = found[zone] { zone.share != nil } else { false }
        }
    }

    /// A batch and what is above some of its records, a level of all of them a request.
    private func withParents(
        of records: [CKRecord], among batch: [CKRecord]
    ) async throws -> [CKRecord.ID: CKRecord] {
        var known = Dictionary(batch.map { ($0.recordID, $0) }) { $1 }
        var above = Set(records.compactMap { $0.parent?.recordID })
        for _ in 0..<Self.parentsMax {
            let missing = above.filter { known[$0] == nil }
            let fetched = try await self.records(for: Array(missing), desiredKeys: [])
            for (id, result) in fetched { known[id] = try? result.get() }
            above = Set(above.compactMap { known[$0]?.parent?.recordID })
            if above.isEmpty { break }
        }
        return known
    }

    /// Whether a record is in a shared tree, or too deep in one to tell.
    private static func isShared(
        _ record: CKRecord, _ known: [CKRecord.ID: CKRecord]
    ) -> Bool {
        var next = record
        for _ in 0...parentsMax {
            if next.share != nil { return true }
            guard let parent = next.parent.flatMap({ known[$0.recordID] }) else { return false }
            next = parent
        }
        return true
    }
}
