import Foundation

extension CKContainer {
    private static let queue = OperationQueue()

    /// Starts an operation once those that it waits for have ended.
    public func add(_ operation: CKOperation) {
        operation.configuration.container = self
        if let operation = operation as? CKDatabaseOperation, operation.database == nil {
            operation.database = privateCloudDatabase
        }
        Self.queue.addOperation(operation)
    }
}

extension CKOperation {
    /// - Throws: `CKError` `badContainer` for an operation that was added to none.
    fileprivate func requiredContainer() throws -> CKContainer {
        try checkCancellation()
        guard let container = configuration.container else {
            throw CKError(.badContainer, "the operation has no container")
        }
        return container
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
    public var perShareMetadataResultBlock: ((URL, Result<CKShare.Metadata, any Error>) -> Void)?
    /// Told at the end.
    public var fetchShareMetadataResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Takes the links.
    public init(shareURLs: [URL]) { self.shareURLs = shareURLs }

    override func run() async {
        do {
            let urls = shareURLs ?? []
            let found = try await requiredContainer().shareMetadatas(for: urls)
            for url in urls {
                if let result = found[url] { perShareMetadataResultBlock?(url, result) }
            }
            fetchShareMetadataResultBlock?(.success(()))
        } catch {
            fetchShareMetadataResultBlock?(.failure(CKError(error)))
        }
    }
}

/// Takes part in shares.
public final class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// What to take part in.
    public var shareMetadatas: [CKShare.Metadata]?

    /// Told of each share.
    public var perShareResultBlock: ((CKShare.Metadata, Result<CKShare, any Error>) -> Void)?
    /// Told at the end.
    public var acceptSharesResultBlock: ((Result<Void, any Error>) -> Void)?

    /// Takes what to take part in.
    public init(shareMetadatas: [CKShare.Metadata]) { self.shareMetadatas = shareMetadatas }

    override func run() async {
        do {
            let metadatas = shareMetadatas ?? []
            let accepted = try await requiredContainer().accept(metadatas)
            for metadata in metadatas {
                if let result = accepted[metadata] { perShareResultBlock?(metadata, result) }
            }
            acceptSharesResultBlock?(.success(()))
        } catch {
            acceptSharesResultBlock?(.failure(CKError(error)))
        }
    }
}
