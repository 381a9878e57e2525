import Foundation

// The methods with completion handlers. They call back on a thread of this library's, never on the main one.
extension CKContainer {
    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func accountStatus(
        completionHandler: @escaping @Sendable (CKAccountStatus, (any Error)?) -> Void
    ) {
        Callback.answer({ status, error in completionHandler(status ?? .couldNotDetermine, error) })
        { try await self.accountStatus() }
    }

    /// With a completion handler: as `userRecordID()`.
    @preconcurrency
    public func fetchUserRecordID(
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) { try await self.userRecordID() }
    }

    /// With a completion handler: as `shareParticipant(forEmailAddress:)`.
    @preconcurrency
    public func fetchShareParticipant(
        withEmailAddress emailAddress: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.shareParticipant(forEmailAddress: emailAddress)
        }
    }

    /// With a completion handler: as `shareParticipant(forPhoneNumber:)`.
    @preconcurrency
    public func fetchShareParticipant(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.shareParticipant(forPhoneNumber: phoneNumber)
        }
    }

    /// With a completion handler: as `shareParticipant(forUserRecordID:)`.
    @preconcurrency
    public func fetchShareParticipant(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) {
            try await self.shareParticipant(forUserRecordID: userRecordID)
        }
    }

    /// With a completion handler: as `userIdentity(forEmailAddress:)`.
    @preconcurrency
    public func discoverUserIdentity(
        withEmailAddress emailAddress: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        Callback.answer({ found, error in completionHandler(found ?? nil, error) }) {
            try await self.userIdentity(forEmailAddress: emailAddress)
        }
    }

    /// With a completion handler: as `userIdentity(forPhoneNumber:)`.
    @preconcurrency
    public func discoverUserIdentity(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        Callback.answer({ found, error in completionHandler(found ?? nil, error) }) {
            try await self.userIdentity(forPhoneNumber: phoneNumber)
        }
    }

    /// With a completion handler: as `userIdentity(forUserRecordID:)`.
    @preconcurrency
    public func discoverUserIdentity(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        Callback.answer({ found, error in completionHandler(found ?? nil, error) }) {
            try await self.userIdentity(forUserRecordID: userRecordID)
        }
    }

    /// With a completion handler: as `shareParticipants(forEmailAddresses:)`.
    @preconcurrency
    public func fetchShareParticipants(
        forEmailAddresses emailAddresses: [String],
        completionHandler:
            @escaping @Sendable (
                Result<[String: Result<CKShare.Participant, any Error>], any Error>
            ) -> Void
    ) {
        Callback.result(completionHandler) {
            try await self.shareParticipants(forEmailAddresses: emailAddresses)
        }
    }

    /// With a completion handler: as `shareParticipants(forPhoneNumbers:)`.
    @preconcurrency
    public func fetchShareParticipants(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler:
            @escaping @Sendable (
                Result<[String: Result<CKShare.Participant, any Error>], any Error>
            ) -> Void
    ) {
        Callback.result(completionHandler) {
            try await self.shareParticipants(forPhoneNumbers: phoneNumbers)
        }
    }

    /// With a completion handler: as `shareParticipants(forUserRecordIDs:)`.
    @preconcurrency
    public func fetchShareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKRecord.ID: Result<CKShare.Participant, any Error>], any Error>
            ) -> Void
    ) {
        Callback.result(completionHandler) {
            try await self.shareParticipants(forUserRecordIDs: userRecordIDs)
        }
    }

    /// With a completion handler: as `shareMetadatas(for:)`.
    @preconcurrency
    public func fetchShareMetadatas(
        for urls: [URL],
        completionHandler:
            @escaping @Sendable (
                Result<[URL: Result<CKShare.Metadata, any Error>], any Error>
            ) -> Void
    ) {
        Callback.result(completionHandler) { try await self.shareMetadatas(for: urls) }
    }

    /// With a completion handler: as `shareMetadata(for:)`.
    @preconcurrency
    public func fetchShareMetadata(
        with url: URL,
        completionHandler: @escaping @Sendable (CKShare.Metadata?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) { try await self.shareMetadata(for: url) }
    }

    /// With a completion handler: as the asynchronous method of the same purpose.
    @preconcurrency
    public func accept(
        _ metadata: CKShare.Metadata,
        completionHandler: @escaping @Sendable (CKShare?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) { try await self.accept(metadata) }
    }

    /// With a completion handler: as the asynchronous method for several shares.
    @preconcurrency
    public func accept(
        _ metadatas: [CKShare.Metadata],
        completionHandler:
            @escaping @Sendable (
                Result<[CKShare.Metadata: Result<CKShare, any Error>], any Error>
            ) -> Void
    ) {
        Callback.result(completionHandler) { try await self.accept(metadatas) }
    }

    /// With a completion handler: as `allLongLivedOperationIDs()`.
    @preconcurrency
    public func fetchAllLongLivedOperationIDs(
        completionHandler: @escaping @Sendable ([CKOperation.ID]?, (any Error)?) -> Void
    ) {
        Callback.answer(completionHandler) { try await self.allLongLivedOperationIDs() }
    }

    /// With a completion handler: as `longLivedOperation(for:)`.
    @preconcurrency
    public func fetchLongLivedOperation(
        withID operationID: CKOperation.ID,
        completionHandler: @escaping @Sendable (CKOperation?, (any Error)?) -> Void
    ) {
        Callback.answer({ found, error in completionHandler(found ?? nil, error) }) {
            try await self.longLivedOperation(for: operationID)
        }
    }
}

/// Hands what an asynchronous method gives to a completion handler.
enum Callback {
    static func answer<Value: Sendable>(
        _ handler: @escaping @Sendable (Value?, (any Error)?) -> Void,
        _ body: @escaping @Sendable () async throws -> Value
    ) {
        result(
            { result in
                switch result {
                case .success(let value): handler(value, nil)
                case .failure(let error): handler(nil, error)
                }
            }, body)
    }

    static func result<Value: Sendable>(
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
}
