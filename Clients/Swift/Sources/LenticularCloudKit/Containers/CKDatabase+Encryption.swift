import Foundation

// Values that are encrypted before they are sent.
extension CKDatabase {
    /// Encrypts what was set in the encrypted parts of records; nil clears a field.
    ///
    /// - Throws: `CKError` `accountTemporarilyUnavailable` without the key on this device; `invalidArguments`
    ///   where others would get the record, for whom there are no keys yet.
    func sealedValues(
        of records: [CKRecord]
    ) async throws -> [CKRecord.ID: [CKRecord.FieldKey: [UInt8]?]] {
        let concerned = records.filter { !$0.encrypted.changed.isEmpty }
        guard !concerned.isEmpty else { return [:] }
        guard let key = try await access.keys.load() else {
            throw CKError(
                .accountTemporarilyUnavailable,
                "encryptedValues: this device does not have the key; unlock it first")
        }
        let cipher = ValueCipher(key: key)
        let user = await caller.known
        var sealed: [CKRecord.ID: [CKRecord.FieldKey: [UInt8]?]] = [:]
        for record in concerned {
            try await refuseShared(record)
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

    private func refuseShared(_ record: CKRecord) async throws {
        let refusal = CKError(
            .invalidArguments,
            "encryptedValues: \(record.recordID.recordName) is shared or public, and there are no "
                + "keys for others yet; nothing was sent")
        guard databaseScope == .private, record.share == nil, !(record is CKShare) else {
            throw refusal
        }
        let zone = record.recordID.zoneID
        if zone.zoneName != CKRecordZone.ID.defaultZoneName,
            try await recordZones(for: [zone])[zone].flatMap({ try? $0.get() })?.share != nil
        {
            throw refusal
        }
        var parent = record.parent?.recordID
        for _ in 0..<Self.parentsMax {
            guard let id = parent else { return }
            guard let above = try? await self.record(for: id) else { return }
            if above.share != nil { throw refusal }
            parent = above.parent?.recordID
        }
        throw refusal
    }
}
