import Foundation

/// Saves and deletes subscriptions.
public final class CKModifySubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// Subscriptions to save.
    public var subscriptionsToSave: [CKSubscription]?
    /// Subscriptions to delete.
    public var subscriptionIDsToDelete: [CKSubscription.ID]?

    /// Told of each subscription that was to be saved.
    @preconcurrency public var perSubscriptionSaveBlock:
        (@Sendable (CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
    /// Told of each subscription that was to be deleted.
    @preconcurrency public var perSubscriptionDeleteBlock:
        (@Sendable (CKSubscription.ID, Result<Void, any Error>) -> Void)?
    /// Told at the end: fails only when nothing can be said of any subscription.
    @preconcurrency public var modifySubscriptionsResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form: failures of items come here, too, as one partial failure.
    @preconcurrency public var modifySubscriptionsCompletionBlock:
        (@Sendable ([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?

    /// Takes what to save and delete.
    public init(
        subscriptionsToSave: [CKSubscription]? = nil,
        subscriptionIDsToDelete: [CKSubscription.ID]? = nil
    ) {
        self.subscriptionsToSave = subscriptionsToSave
        self.subscriptionIDsToDelete = subscriptionIDsToDelete
    }

    override func run() async {
        let subscriptions = subscriptionsToSave ?? []
        let ids = subscriptionIDsToDelete ?? []
        do {
            let done = try await requiredDatabase().modifySubscriptions(
                saving: subscriptions, deleting: ids)
            var failures = ItemFailures()
            for subscription in subscriptions {
                guard let result = done.saveResults[subscription.subscriptionID] else { continue }
                perSubscriptionSaveBlock?(subscription.subscriptionID, result)
                failures.note(subscription.subscriptionID, result)
            }
            for id in ids {
                guard let result = done.deleteResults[id] else { continue }
                perSubscriptionDeleteBlock?(id, result)
                failures.note(id, result)
            }
            modifySubscriptionsResultBlock?(.success(()))
            modifySubscriptionsCompletionBlock?(
                subscriptions.filter { failures.errors[$0.subscriptionID] == nil },
                ids.filter { failures.errors[$0] == nil }, failures.partialFailure)
        } catch {
            modifySubscriptionsResultBlock?(.failure(CKError(error)))
            modifySubscriptionsCompletionBlock?(nil, nil, CKError(error))
        }
    }
}

/// Fetches subscriptions by their IDs, or all of a database.
public final class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Unchecked: as its parent.

    /// Nil for all subscriptions.
    public var subscriptionIDs: [CKSubscription.ID]?

    /// Told of each subscription.
    @preconcurrency public var perSubscriptionResultBlock:
        (@Sendable (CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
    /// Told at the end: fails only when nothing can be said of any subscription.
    @preconcurrency public var fetchSubscriptionsResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form: failures of items come here, too, as one partial failure.
    @preconcurrency public var fetchSubscriptionCompletionBlock:
        (@Sendable ([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?

    /// Takes the subscriptions to fetch.
    public init(subscriptionIDs: [CKSubscription.ID]) { self.subscriptionIDs = subscriptionIDs }

    public override init() {}

    /// Fetches all of the caller's subscriptions to the database.
    public static func fetchAllSubscriptionsOperation() -> CKFetchSubscriptionsOperation {
        CKFetchSubscriptionsOperation()
    }

    override func run() async {
        do {
            var failures = ItemFailures()
            var subscriptions: [CKSubscription.ID: CKSubscription] = [:]
            for (id, result) in try await results() {
                perSubscriptionResultBlock?(id, result)
                failures.note(id, result)
                subscriptions[id] = try? result.get()
            }
            fetchSubscriptionsResultBlock?(.success(()))
            fetchSubscriptionCompletionBlock?(subscriptions, failures.partialFailure)
        } catch {
            fetchSubscriptionsResultBlock?(.failure(CKError(error)))
            fetchSubscriptionCompletionBlock?(nil, CKError(error))
        }
    }

    private func results() async throws -> [(
        CKSubscription.ID, Result<CKSubscription, any Error>
    )] {
        let database = try requiredDatabase()
        guard let subscriptionIDs else {
            return try await database.allSubscriptions().map { ($0.subscriptionID, .success($0)) }
        }
        let found = try await database.subscriptions(for: subscriptionIDs)
        return subscriptionIDs.compactMap { id in found[id].map { (id, $0) } }
    }
}
