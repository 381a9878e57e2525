import Foundation

// The methods with completion handlers. They call back on a thread of this library's, never on the main one.
extension CKDatabase {
    private func answer<Value: Sendable>(
        _ handler: @escaping @Sendable (Result<Value, any Error>) -> Void,
        _ body: @escaping @Sendable () async throws -> Value
    ) {
        Task {
            do {
                handler(.success(try await body()))
            } catch {
                handler(.failure(CKError(error)))
            }
        }
    }

    private static func split<Value>(
        _ handler: @escaping @Sendable (Value?, (any Error)?) -> Void
    ) -> @Sendable (Result<Value, any Error>) -> Void {
        { result in
            switch result {
            case .success(let value): handler(value, nil)
            case .failure(let error): handler(nil, error)
            }
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    public func fetch(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        answer(Self.split(completionHandler)) { try await self.record(for: recordID) }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    public func save(
        _ record: CKRecord,
        completionHandler: @escaping @Sendable (CKRecord?, (any Error)?) -> Void
    ) {
        answer(Self.split(completionHandler)) { try await self.save(record) }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    public func delete(
        withRecordID recordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        answer(Self.split(completionHandler)) { try await self.deleteRecord(withID: recordID) }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    public func fetch(
        withQuery query: CKQuery, inZoneWith zoneID: CKRecordZone.ID? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler: @escaping @Sendable (Result<MatchResults, any Error>) -> Void
    ) {
        answer(completionHandler) {
            try await self.records(
                matching: query, inZoneWith: zoneID, desiredKeys: desiredKeys,
                resultsLimit: resultsLimit)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    public func fetch(
        withCursor cursor: CKQueryOperation.Cursor, desiredKeys: [CKRecord.FieldKey]? = nil,
        resultsLimit: Int = CKQueryOperation.maximumResults,
        completionHandler: @escaping @Sendable (Result<MatchResults, any Error>) -> Void
    ) {
        answer(completionHandler) {
            try await self.records(
                continuingMatchFrom: cursor, desiredKeys: desiredKeys, resultsLimit: resultsLimit)
        }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    public func fetchAllRecordZones(
        completionHandler: @escaping @Sendable ([CKRecordZone]?, (any Error)?) -> Void
    ) {
        answer(Self.split(completionHandler)) { try await self.allRecordZones() }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    public func fetch(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        answer(Self.split(completionHandler)) { try await self.recordZone(for: zoneID) }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    public func save(
        _ zone: CKRecordZone,
        completionHandler: @escaping @Sendable (CKRecordZone?, (any Error)?) -> Void
    ) {
        answer(Self.split(completionHandler)) { try await self.save(zone) }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    public func delete(
        withRecordZoneID zoneID: CKRecordZone.ID,
        completionHandler: @escaping @Sendable (CKRecordZone.ID?, (any Error)?) -> Void
    ) {
        answer(Self.split(completionHandler)) { try await self.deleteRecordZone(withID: zoneID) }
    }
}
