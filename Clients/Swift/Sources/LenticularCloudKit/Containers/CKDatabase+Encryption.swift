import Foundation

// Values that are encrypted before they are sent.
extension CKDatabase {
    /// Encrypts what was set in the encrypted parts of records; nil clears a field.
    ///
    /// The first values of an account make its key.
    ///
    /// - Throws: `CKError` `accountTemporarilyUnavailable` while another device alone has the key;
    ///   `invalidArguments` where others would get a record, for whom there are no keys yet.
    func sealedValues(
        of records: [CKRecord]
    ) async throws -> [CKRecord.ID: [CKRecord.FieldKey: [UInt8]?]] {
        let concerned = records.filter { !$0.encrypted.changed.isEmpty }
        guard !concerned.isEmpty else { return [:] }
        try await refuseShared(concerned)
        let key = try await CKEncryption(access).keyForWriting()
        let cipher = ValueCipher(key: key)
        let user = await caller.known
        var sealed: [CKRecord.ID: [CKRecord.FieldKey: [UInt8]?]] = [:]
        for record in concerned {
            sealed[record.recordID] = try Dictionary(
                uniqueKeysWithValues: record.encrypted.changed.map { key in
                    let place = ValuePlace(record, key, in: access.container, user: user)
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
                let place = ValuePlace(record, key, in: access.container, user: user)
                record.encrypted.opened(
                    cipher.open([UInt8](sealed), at: place), forKey: key)
            }
        }
    }

    /// Parents that are followed to find out whether a record is shared.
    private static let parentsMax = 50

    private static func refusal(_ record: CKRecord) -> CKError {
        CKError(
            .invalidArguments,
            "encryptedValues: \(record.recordID.recordName) is shared or public, and there are no "
                + "keys for others yet; nothing was sent")
    }

    private func refuseShared(_ records: [CKRecord]) async throws {
        for record in records
        where databaseScope != .private || record.share != nil || record is CKShare {
            throw Self.refusal(record)
        }
        let zones = Set(records.map(\.recordID.zoneID))
            .filter { $0.zoneName != CKRecordZone.ID.defaultZoneName }
        let found = try await recordZones(for: Array(zones))
        for record in records {
            if case .success(let zone)? = found[record.recordID.zoneID], zone.share != nil {
                throw Self.refusal(record)
            }
        }
        try await refuseSharedTrees(records)
    }

    /// Follows the parents of all records at once, a level a request.
    private func refuseSharedTrees(_ records: [CKRecord]) async throws {
        guard let first = records.first else { return }
        var known = Dictionary(records.map { ($0.recordID, $0) }) { $1 }
        var above = Set(records.compactMap { $0.parent?.recordID })
        for _ in 0..<Self.parentsMax {
            let missing = above.filter { known[$0] == nil }
            let fetched = try await self.records(for: Array(missing), desiredKeys: [])
            for (id, result) in fetched { known[id] = try? result.get() }
            let level = above.compactMap { known[$0] }
            if let shared = level.first(where: { $0.share != nil }) { throw Self.refusal(shared) }
            above = Set(level.compactMap { $0.parent?.recordID })
            if above.isEmpty { return }
        }
        throw Self.refusal(first)
    }
}
