import Foundation

extension CKContainer {
    private static let queue = OperationQueue()

    /// Starts an operation once those that it waits for have ended.
    public func add(_ operation: CKOperation) {
        if operation.configuration == nil { operation.configuration = CKOperation.Configuration() }
        operation.configuration.container = self
        if let operation = operation as? CKDatabaseOperation, operation.database == nil {
            operation.database = privateCloudDatabase
        }
        Self.queue.addOperation(operation)
    }
}

extension CKOperation {
    /// - Throws: `CKError` `badContainer` for an operation that was added to none.
    func requiredContainer() throws -> CKContainer {
        try checkCancellation()
        guard let container = configuration.container else {
            throw CKError(.badContainer, "the operation has no container")
        }
        return container.with(settings)
    }
}

/// Finds out what links lead to.
public final class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// The links.
    public var shareURLs: [URL]?
    /// Whether the roots are wanted.
    public var shouldFetchRootRecord = false
    /// The fields of the roots to fetch; nil for all.
    public var rootRecordDesiredKeys: [CKRecord.FieldKey]?

    /// Told of each link.
    @preconcurrency public var perShareMetadataResultBlock:
        (@Sendable (URL, Result<CKShare.Metadata, any Error>) -> Void)?
    /// Told at the end.
    @preconcurrency public var fetchShareMetadataResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?

    /// Takes the links.
    public init(shareURLs: [URL]) { self.shareURLs = shareURLs }

    /// The older form: failures of items come here, too, as one partial failure.
    @preconcurrency public var perShareMetadataBlock:
        (@Sendable (URL, CKShare.Metadata?, (any Error)?) -> Void)?
    /// The older form of the end.
    @preconcurrency public var fetchShareMetadataCompletionBlock:
        (@Sendable ((any Error)?) -> Void)?

    public override init() {}

    override func run() async {
        do {
            let urls = shareURLs ?? []
            let root = CKContainer.RootRequest(
                isWanted: shouldFetchRootRecord, keys: rootRecordDesiredKeys)
            let found = try await requiredContainer().shareMetadatas(for: urls, root)
            var failures = ItemFailures()
            for url in urls {
                guard let result = found[url] else { continue }
                let error = failures.note(url, result)
                perShareMetadataResultBlock?(url, result)
                perShareMetadataBlock?(url, try? result.get(), error)
            }
            fetchShareMetadataResultBlock?(.success(()))
            fetchShareMetadataCompletionBlock?(failures.partialFailure)
        } catch {
            fetchShareMetadataResultBlock?(.failure(CKError(error)))
            fetchShareMetadataCompletionBlock?(CKError(error))
        }
    }
}

/// Takes part in shares.
public final class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// What to take part in.
    public var shareMetadatas: [CKShare.Metadata]?

    /// Told of each share.
    @preconcurrency public var perShareResultBlock:
        (@Sendable (CKShare.Metadata, Result<CKShare, any Error>) -> Void)?
    /// Told at the end.
    @preconcurrency public var acceptSharesResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?

    /// Takes what to take part in.
    public init(shareMetadatas: [CKShare.Metadata]) { self.shareMetadatas = shareMetadatas }

    /// The older form: failures of items come here, too, as one partial failure.
    @preconcurrency public var perShareCompletionBlock:
        (@Sendable (CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
    /// The older form of the end.
    @preconcurrency public var acceptSharesCompletionBlock: (@Sendable ((any Error)?) -> Void)?

    public override init() {}

    override func run() async {
        do {
            let metadatas = shareMetadatas ?? []
            let accepted = try await requiredContainer().accept(metadatas)
            var failures = ItemFailures()
            for metadata in metadatas {
                guard let result = accepted[metadata] else { continue }
                let error = failures.note(metadata, result)
                perShareResultBlock?(metadata, result)
                perShareCompletionBlock?(metadata, try? result.get(), error)
            }
            acceptSharesResultBlock?(.success(()))
            acceptSharesCompletionBlock?(failures.partialFailure)
        } catch {
            acceptSharesResultBlock?(.failure(CKError(error)))
            acceptSharesCompletionBlock?(CKError(error))
        }
    }
}

/// Makes entries for shares, for people who are known by addresses or records.
public final class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// The people to make entries for.
    public var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

    /// Told of each person.
    @preconcurrency public var perShareParticipantResultBlock:
        (
            @Sendable (CKUserIdentity.LookupInfo, Result<CKShare.Participant, any Error>) -> Void
        )?
    /// Told at the end.
    @preconcurrency public var fetchShareParticipantsResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form: people who were found.
    @preconcurrency public var shareParticipantFetchedBlock:
        (@Sendable (CKShare.Participant) -> Void)?
    /// The older form of the end.
    @preconcurrency public var fetchShareParticipantsCompletionBlock:
        (@Sendable ((any Error)?) -> Void)?

    /// Takes the people to make entries for.
    public init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    public override init() {}

    override func run() async {
        do {
            let container = try requiredContainer()
            for info in userIdentityLookupInfos ?? [] {
                let participant = try await container.participant(info)
                perShareParticipantResultBlock?(info, .success(participant))
                shareParticipantFetchedBlock?(participant)
            }
            fetchShareParticipantsResultBlock?(.success(()))
            fetchShareParticipantsCompletionBlock?(nil)
        } catch {
            fetchShareParticipantsResultBlock?(.failure(CKError(error)))
            fetchShareParticipantsCompletionBlock?(CKError(error))
        }
    }
}

extension CKContainer {
    fileprivate func participant(
        _ info: CKUserIdentity.LookupInfo
    ) async throws -> CKShare.Participant {
        if let user = info.userRecordID { return try await shareParticipant(forUserRecordID: user) }
        if let phone = info.phoneNumber { return try await shareParticipant(forPhoneNumber: phone) }
        return try await shareParticipant(forEmailAddress: info.emailAddress ?? "")
    }
}
