import CloudDatabase
import CloudModel
import Cryptography
import JSON
import RecordDecoding

/// `subscriptions/list` (web-services.md §4.15).
enum ListSubscriptionsEndpoint {
    static func answer(_ context: RequestContext) throws -> [UInt8] {
        let database = try context.database()
        _ = try context.body()
        return try context.read { snapshot in
            var writer = JSONWriter(reserving: 1_024)
            writer.raw("{\"subscriptions\":[")
            try ListSubscriptions(database, snapshot: snapshot).appendAll(to: &writer)
            writer.raw("]}")
            return writer.bytes
        }
    }
}

/// `subscriptions/lookup` (web-services.md §4.15; rulings.md 1: IDs may also come bare).
enum LookupSubscriptionsEndpoint {
    static func answer(_ context: RequestContext) throws -> [UInt8] {
        let database = try context.database()
        let asked = try context.body().items("subscriptions", context.limits)
        return try context.read { snapshot in
            let names = try asked.map { try spelling($0) }
            let found = try ListSubscriptions(database, snapshot: snapshot).lookUp(
                names.compactMap { SubscriptionID($0) })
            var writer = JSONWriter(reserving: 1_024)
            writer.raw("{\"subscriptions\":[")
            var work = RequestWork()
            for (index, name) in names.enumerated() {
                work.items += 1
                if index > 0 { writer.raw(",") }
                let id = SubscriptionID(name)
                if let body = id.flatMap({ found[$0] }) {
                    writer.raw(body)
                } else {
                    let fault = id == nil ? SubscriptionDecoder.badID : .subscriptionNotFound
                    work.note(fault)
                    FaultResponse.append(subscription: name, fault, to: &writer)
                }
            }
            context.exchange.keep(work)
            writer.raw("]}")
            return writer.bytes
        }
    }

    private static func spelling(_ element: JSONValue) throws(Fault) -> String {
        if let bare = element.string { return bare }
        let object = try RequestObject(element, key: "subscriptions")
        let id = try object.requiredString("subscriptionID")
        return id
    }
}

/// `subscriptions/modify` (web-services.md §4.15, rulings.md 42).
enum ModifySubscriptionsEndpoint {
    static func run(
        _ context: RequestContext, completion: @escaping WriteCompletion
    ) throws -> NextStep {
        let database = try context.database()
        let decoder = SubscriptionDecoder(
            scope: database.scope, zones: context.zones, limits: context.limits,
            makeID: { UniqueID.random(context.random) })
        var items: [SubscriptionDecoder.Item] = []
        for element in try context.body().items("operations", context.limits) {
            items.append(try decoder.item(element))
        }
        let decoded = items
        let operations = items.compactMap {
            if case .success(let made) = $0.decoded { made } else { nil }
        }
        context.charge(records: operations.count)
        let exchange = context.exchange
        try ModifySubscriptions(operations, in: database).run { result in
            completion(result.map { outcomes in { _ in encode(decoded, outcomes, for: exchange) } })
        }
        return .handedOn
    }

    private static func encode(
        _ items: [SubscriptionDecoder.Item], _ outcomes: [ModifySubscriptions.Outcome],
        for exchange: Exchange
    ) -> [UInt8] {
        var work = RequestWork(items: items.count)
        var writer = JSONWriter(reserving: 1_024)
        var outcomes = outcomes[...]
        writer.raw("{\"subscriptions\":[")
        for (index, item) in items.enumerated() {
            if index > 0 { writer.raw(",") }
            let outcome = item.decoded.flatMap { _ in
                outcomes.popFirst() ?? .failure(Fault(.internalError, "internal error"))
            }
            switch outcome {
            case .success(let body): writer.raw(body)
            case .failure(let fault):
                work.note(fault)
                FaultResponse.append(subscription: item.id, fault, to: &writer)
            }
        }
        exchange.keep(work)
        writer.raw("]}")
        return writer.bytes
    }
}

extension ListSubscriptionsEndpoint {
    /// What the three endpoints answer.
    static let answers = ObjectShape(
        "Subscriptions",
        [
            .required(
                "subscriptions",
                .list(
                    .object(
                        AnswerShapes.item(
                            "StoredSubscription",
                            [
                                .optional("subscriptionID", .text),
                                .optional("subscriptionType", .text), .optional("deleted", .flag),
                            ]))))
        ])
}

extension LookupSubscriptionsEndpoint {
    static let takes = ObjectShape(
        "LookupSubscriptionsRequest",
        [
            .items(
                "subscriptions",
                .anyOf([
                    .object(
                        ObjectShape(
                            "SubscriptionToLookUp",
                            [.required("subscriptionID", SubscriptionDecoder.idKey.value)])),
                    .text(examples: ["notes"]),
                ]))
        ])
}

extension ModifySubscriptionsEndpoint {
    static let takes = ObjectShape(
        "ModifySubscriptionsRequest", [.items("operations", .object(SubscriptionDecoder.shape))])
}
