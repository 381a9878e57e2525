import CloudDatabase
import CloudModel
import JSON
import RecordDecoding

/// Reads the operations of `subscriptions/modify` (web-services.md §4.15, §5.14; rulings.md 1 and 42).
struct SubscriptionDecoder {
    /// An operation, with the ID under which its item is answered.
    struct Item: Sendable {
        /// As the request has it, or made for a creation without; nil for another operation without.
        let id: String?
        let decoded: Result<ModifySubscriptions.Operation, Fault>
    }

    private enum Kind: String, CaseIterable { case create, update, delete }
    private enum KindWord: String, CaseIterable { case query, zone, database }
    private enum FiringWord: String, CaseIterable { case create, update, delete }

    let scope: DatabaseScope
    let zones: ZoneReader
    let limits: ServiceLimits
    /// Makes the ID of a subscription that is created without.
    let makeID: () -> String

    /// - Throws: `Fault` for the whole request: a key of another JSON type, or an unknown word.
    func item(_ element: JSONValue) throws(Fault) -> Item {
        let operation = try RequestObject(element, key: "operations")
        let kind = try operation.requiredWord("operationType", Kind.self)
        let subscription = try operation.requiredObject("subscription")
        let given = try subscription.string("subscriptionID")
        guard let spelt = given ?? (kind == .create ? makeID() : nil) else {
            return Item(id: nil, decoded: .failure(RequestObject.missing("subscriptionID")))
        }
        guard let id = SubscriptionID(spelt) else {
            return Item(id: spelt, decoded: .failure(Self.badID))
        }
        if kind == .delete { return Item(id: spelt, decoded: .success(.delete(id))) }
        let parts = try parts(of: subscription)
        return Item(
            id: spelt,
            decoded: Result { () throws(Fault) in
                let (made, query) = try self.subscription(id, parts)
                return kind == .create ? .create(made, query) : .update(made, query)
            })
    }

    static let badID = Fault.badRequest(
        "subscriptionID: expected 1 to 255 bytes without control characters")

    /// The parts of a subscription, each of the right JSON type; they are not yet checked together.
    private struct Parts {
        var kind: KindWord?
        var firesOn: [FiringWord]
        var firesOnce: Bool
        var zoneWide: Bool?
        var zone: ZoneReader.Spelling?
        var recordType: String?
        var query: RequestObject?
        var info: [UInt8]?
    }

    private func parts(of object: RequestObject) throws(Fault) -> Parts {
        var zone: ZoneReader.Spelling?
        if let named = try object.object("zoneID") { zone = try ZoneReader.spelling(named) }
        var info: [UInt8]?
        if let given = try object.object("notificationInfo") {
            info = try NotificationInfoDecoder.decode(given)
        }
        return Parts(
            kind: try object.word("subscriptionType", KindWord.self),
            firesOn: try firesOn(object), firesOnce: try object.bool("firesOnce") ?? false,
            zoneWide: try object.bool("zoneWide"), zone: zone,
            recordType: try object.string("recordType"), query: try object.object("query"),
            info: info)
    }

    private func firesOn(_ object: RequestObject) throws(Fault) -> [FiringWord] {
        guard let words = try object.strings("firesOn"), let member = object["firesOn"] else {
            return []
        }
        var found: [FiringWord] = []
        for word in words {
            guard let known = FiringWord(rawValue: word) else {
                throw RequestObject.mismatch(member, "firesOn", "a list of create, update, delete")
            }
            found.append(known)
        }
        return found
    }

    private func subscription(
        _ id: SubscriptionID, _ parts: Parts
    ) throws(Fault) -> (Subscription, RecordQuery?) {
        guard let kind = parts.kind else { throw RequestObject.missing("subscriptionType") }
        let made: (Subscription, RecordQuery?)
        switch kind {
        case .query: made = try query(id, parts)
        case .zone where parts.zone == nil:
            // Some clients say it this way; others say it by the type `database`.
            guard parts.zoneWide == true else { throw RequestObject.missing("zoneID") }
            made = (try database(id, parts), nil)
        case .zone: made = (try zone(id, parts), nil)
        case .database: made = (try database(id, parts), nil)
        }
        let bytes = (made.0.query?.count ?? 0) + (made.0.notificationInfo?.count ?? 0)
        guard bytes <= limits.subscriptionBytesMax else {
            throw .limitExceeded(
                "subscription: query and notificationInfo take \(bytes) bytes; the limit is "
                    + "\(limits.subscriptionBytesMax)")
        }
        return made
    }

    private func query(
        _ id: SubscriptionID, _ parts: Parts
    ) throws(Fault) -> (Subscription, RecordQuery?) {
        guard scope != .shared else { throw refusal("query", "public and private databases") }
        guard let object = parts.query else { throw RequestObject.missing("query") }
        guard !parts.firesOn.isEmpty else { throw RequestObject.missing("firesOn") }
        var decoder = QueryDecoder(zones: zones, limits: limits)
        let query = try decoder.decode(object)
        var text = JSONWriter(reserving: 200)
        text.compact(object.value)
        var firing: Subscription.Firing = []
        for word in parts.firesOn { firing.insert(Self.firing(word)) }
        return (
            Subscription(
                id: id, kind: .query, recordType: query.type, zone: try queriedZone(parts),
                firesOn: firing, firesOnce: parts.firesOnce, query: text.bytes,
                notificationInfo: parts.info),
            query
        )
    }

    private static func firing(_ word: FiringWord) -> Subscription.Firing {
        switch word {
        case .create: .create
        case .update: .update
        case .delete: .delete
        }
    }

    /// The zone that is named; else nil for all zones, or the default one where `zoneWide` is false.
    private func queriedZone(_ parts: Parts) throws(Fault) -> ZoneName? {
        guard let spelling = parts.zone else {
            return parts.zoneWide == false && scope == .private ? .defaultZone : nil
        }
        let zone = try zones.zone(spelling)
        guard scope == .private else {
            guard zone.name.isDefault else { throw .zoneNotFound }
            return nil
        }
        guard zone.owner == nil else { throw .foreignZone }
        return zone.name
    }

    private func zone(_ id: SubscriptionID, _ parts: Parts) throws(Fault) -> Subscription {
        guard scope == .private else { throw refusal("zone", "private databases") }
        guard let spelling = parts.zone else { throw RequestObject.missing("zoneID") }
        let zone = try zones.zone(spelling)
        guard zone.owner == nil else { throw .foreignZone }
        return Subscription(
            id: id, kind: .zone, recordType: try recordType(parts), zone: zone.name,
            notificationInfo: parts.info)
    }

    private func database(_ id: SubscriptionID, _ parts: Parts) throws(Fault) -> Subscription {
        guard scope != .public else { throw refusal("database", "private and shared databases") }
        return Subscription(
            id: id, kind: .database, recordType: try recordType(parts),
            notificationInfo: parts.info)
    }

    private func recordType(_ parts: Parts) throws(Fault) -> RecordTypeName? {
        guard let name = parts.recordType else { return nil }
        guard let type = RecordTypeName(name) else { throw .unknownRecordType(name) }
        return type
    }

    private func refusal(_ kind: String, _ databases: String) -> Fault {
        .badRequest("subscriptionType: '\(kind)' is for \(databases) only")
    }
}

extension SubscriptionDecoder {
    static let shape = ObjectShape(
        "SubscriptionOperation",
        [
            .required("operationType", .words(Kind.self)),
            .required("subscription", .object(subscriptionShape)),
        ])

    static let idKey = ObjectKey.optional(
        "subscriptionID", .text(examples: ["notes"], bytesMax: 255))

    private static let subscriptionShape = ObjectShape(
        "Subscription",
        [
            idKey, .optional("subscriptionType", .words(KindWord.self)),
            .optional("firesOn", .list(.words(FiringWord.self))), .optional("firesOnce", .flag),
            .optional("zoneWide", .flag), ZoneReader.key, .optional("recordType", .recordType()),
            .optional("query", .object(QueryDecoder.shape)),
            .optional("notificationInfo", .object(NotificationInfoDecoder.shape)),
        ])
}
