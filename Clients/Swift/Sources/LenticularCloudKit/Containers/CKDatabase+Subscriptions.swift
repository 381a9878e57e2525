import CloudKitWire
import Foundation

// Subscriptions.
extension CKDatabase {
    /// - Throws: `CKError`, `unknownItem` when there is no such subscription.
    public func subscription(for subscriptionID: CKSubscription.ID) async throws -> CKSubscription {
        guard let result = try await subscriptions(for: [subscriptionID])[subscriptionID] else {
            throw CKError(.internalError, "the answer lacks the subscription")
        }
        return try result.get()
    }

    /// Subscriptions by their IDs, each for itself.
    ///
    /// - Throws: `CKError` when nothing can be said of any.
    public func subscriptions(
        for ids: [CKSubscription.ID]
    ) async throws -> [CKSubscription.ID: Result<CKSubscription, any Error>] {
        guard !ids.isEmpty else { return [:] }
        let answer = try await call("subscriptions/lookup") { json in
            json.key("subscriptions")
            json.array { json in
                for id in ids { json.object { $0.member("subscriptionID", id) } }
            }
        }
        let reader = try await reader()
        var found: [CKSubscription.ID: Result<CKSubscription, any Error>] = [:]
        for (id, item) in zip(ids, answer["subscriptions"]?.elements ?? answer.elements) {
            found[id] = reader.subscriptionResult(item)
        }
        return found
    }

    /// All of the caller's subscriptions to the database.
    ///
    /// - Throws: `CKError`, `notAuthenticated` when nobody is signed in.
    public func allSubscriptions() async throws -> [CKSubscription] {
        let answer = try await call("subscriptions/list") { _ in }
        let reader = try await reader()
        return (answer["subscriptions"]?.elements).map {
            $0.compactMap { SubscriptionText.subscription($0, reader) }
        } ?? []
    }

    /// Saves a subscription, in place of one of the same name.
    ///
    /// - Returns: the subscription that was passed in.
    /// - Throws: `CKError`, `invalidArguments` for a predicate that no server can answer, and for a kind of subscription
    ///   that the database does not have.
    @discardableResult
    public func save(_ subscription: CKSubscription) async throws -> CKSubscription {
        let done = try await modifySubscriptions(saving: [subscription], deleting: [])
        guard let result = done.saveResults[subscription.subscriptionID] else {
            throw CKError(.internalError, "the answer lacks the subscription")
        }
        return try result.get()
    }

    /// - Throws: `CKError`, `unknownItem` when there is no such subscription.
    @discardableResult
    public func deleteSubscription(
        withID subscriptionID: CKSubscription.ID
    ) async throws -> CKSubscription.ID {
        let done = try await modifySubscriptions(saving: [], deleting: [subscriptionID])
        try done.deleteResults[subscriptionID]?.get()
        return subscriptionID
    }

    /// Saves and deletes subscriptions, each for itself; at most 200.
    ///
    /// - Throws: `CKError` when nothing can be said of any.
    @discardableResult
    public func modifySubscriptions(
        saving subscriptions: [CKSubscription] = [], deleting ids: [CKSubscription.ID] = []
    ) async throws -> (
        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
    ) {
        guard !subscriptions.isEmpty || !ids.isEmpty else { return ([:], [:]) }
        let faults = try await send(subscriptions, as: "create", deleting: ids)
        var saves = Array(faults.prefix(subscriptions.count))
        // Others of the same names are there; the server makes no difference to other mistakes.
        let known = subscriptions.indices.filter { saves[$0]?.code == "BAD_REQUEST" }
        if !known.isEmpty {
            let again = try await send(known.map { subscriptions[$0] }, as: "update", deleting: [])
            for (index, fault) in zip(known, again) where fault == nil { saves[index] = nil }
        }
        var saved: [CKSubscription.ID: Result<CKSubscription, any Error>] = [:]
        for (subscription, fault) in zip(subscriptions, saves) {
            saved[subscription.subscriptionID] =
                fault.map { .failure(CKError($0, of: .item)) } ?? .success(subscription)
        }
        var deleted: [CKSubscription.ID: Result<Void, any Error>] = [:]
        for (id, fault) in zip(ids, faults.dropFirst(subscriptions.count)) {
            deleted[id] = fault.map { .failure(CKError($0, of: .item)) } ?? .success(())
        }
        return (saved, deleted)
    }

    /// - Returns: what the server has against each, saves before deletions.
    private func send(
        _ subscriptions: [CKSubscription], as kind: String, deleting ids: [CKSubscription.ID]
    ) async throws -> [WireFault?] {
        let answer = try await call("subscriptions/modify") { json in
            json.key("operations")
            try json.array { json in
                for subscription in subscriptions {
                    try json.subscriptionOperation(kind) {
                        try SubscriptionText.write(subscription, to: &$0)
                    }
                }
                for id in ids {
                    json.subscriptionOperation("delete") {
                        $0.object { $0.member("subscriptionID", id) }
                    }
                }
            }
        }
        let items = (answer["subscriptions"]?.elements).map { Array($0) } ?? []
        guard items.count == subscriptions.count + ids.count else {
            throw CKError(.internalError, "the answer lacks subscriptions")
        }
        return items.map { WireFault($0) }
    }
}

extension JSONText {
    fileprivate mutating func subscriptionOperation(
        _ kind: String, _ write: (inout JSONText) throws -> Void
    ) rethrows {
        try object { json in
            json.member("operationType", kind)
            json.key("subscription")
            try write(&json)
        }
    }
}

extension AnswerReader {
    fileprivate func subscriptionResult(
        _ view: JSONView
    ) -> Result<CKSubscription, any Error> {
        if let fault = WireFault(view) { return .failure(CKError(fault, of: .item)) }
        guard let subscription = SubscriptionText.subscription(view, self) else {
            return .failure(CKError(.internalError, "an answer without a subscription"))
        }
        return .success(subscription)
    }
}
