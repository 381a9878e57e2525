import Foundation
import Seeding
import Testing

/// Random changes by several users and devices, beside a plain reading of who must hear of what.
@Suite("Notices and a plain model of them")
struct NoticeModelTests {
    @Test("Everybody hears of exactly what they must")
    func random() throws {
        let steps =
            ProcessInfo.processInfo.environment["LENTICULAR_STEPS"].flatMap { Int($0) } ?? 2_000
        var run = try NoticeRun(SeededRandom("notices"))
        for _ in 0..<steps { try run.step() }
        try run.check()
    }
}

/// What a subscription asks for, as the model has it.
private struct ModelSubscription {
    enum Filter {
        case none
        case colour(String)
        case above(Int)
    }

    let id: String
    let user: Int
    /// "public", "private" or "shared".
    let database: String
    /// "query", "zone" or "database".
    let kind: String
    var type: String?
    var zone: String?
    var filter = Filter.none
    var firesOn: Set<String> = []
    var isOnce = false

    func matches(_ record: ModelRecord?) -> Bool {
        guard let record else { return false }
        switch filter {
        case .none: return true
        case .colour(let colour): return record.colour.lowercased() == colour.lowercased()
        case .above(let size): return record.size > size
        }
    }
}

private struct ModelRecord {
    let type: String
    let colour: String
    let size: Int
}

/// One zone: the public one has no owner.
private struct ModelZone: Hashable {
    let owner: Int?
    let name: String
}

/// The run of one seed: what was done, and what everybody is to hear of it.
private struct NoticeRun {
    private static let common = ModelZone(owner: 0, name: "Common")

    private static let subscriptionsMax = 24

    private var random: SeededRandom
    private let users: [WireClient]
    private let listeners: [[NoticeListener]]
    private var records: [ModelZone: [String: ModelRecord]] = [:]
    private var subscriptions: [ModelSubscription] = []
    /// Those with whom the first user shares their zone.
    private var participants: Set<Int> = []
    /// By user and device: what query subscriptions tell, in order, by subscription.
    private var ordered: [[[String: [String]]]]
    /// What tells only that something has changed.
    private var loose: [[Set<String>]]
    private var count = 0

    init(_ random: SeededRandom) throws {
        self.random = random
        let server = try WireServer()
        users = try ["ida", "bo", "cy"].map { try server.user($0) }
        listeners = try users.map { user in
            try ["d1", "d2"].map { try NoticeListener(user, device: $0) }
        }
        ordered = Array(repeating: [[:], [:]], count: users.count)
        loose = Array(repeating: [[], []], count: users.count)
        for user in users { try user.make("Own") }
        try users[0].make("Common")
        let made = try users[0].modify(
            [shareOperation("create", "cloudkit.zoneshare", participants: [])], zone: "Common")
        try #require(made.records[0].code == nil, "\(made.text)")
    }

    mutating func step() throws {
        count += 1
        switch random.below(100) {
        case 0..<60: try change()
        // Of too many, each look would take long.
        case 60..<80 where subscriptions.count < Self.subscriptionsMax: try subscribe()
        case 60..<80: try unsubscribe()
        case 80..<90: try unsubscribe()
        case 90..<95: try share()
        default: try check()
        }
    }

    // MARK: - Changes

    private mutating func change() throws {
        let user = random.below(users.count)
        let device = random.any(of: [nil, "d1", "d2"]) ?? nil
        var zones = [
            ModelZone(owner: nil, name: "_defaultZone"), ModelZone(owner: user, name: "Own"),
            ModelZone(owner: user, name: "_defaultZone"),
        ]
        if user == 0 || participants.contains(user) { zones.append(Self.common) }
        let zone = random.one(of: zones)
        let name = "r\(random.below(6))"
        // In the public database only its creator may write a record.
        let key = zone.owner == nil ? "\(name)-\(user)" : name
        var client = users[user]
        client.device = device
        let database =
            zone.owner == nil ? "public" : zone.owner == user ? "private" : "shared"
        let more =
            database == "shared"
            ? "\"zoneID\":{\"zoneName\":\"Common\",\"ownerRecordName\":\(quoted(users[0].name))}"
            : nil
        let previous = records[zone]?[key]
        if previous != nil, random.once(in: 4) {
            let done = try client.modify(
                [operation("forceDelete", key, type: nil)],
                zone: more == nil ? zone.name : nil, in: database, more: more)
            try #require(done.records[0]["deleted"].bool == true, "\(done.text)")
            records[zone]?[key] = nil
            tell(zone, key, from: previous, to: nil, by: user, device)
        } else {
            let type = previous?.type ?? random.one(of: ["Leaf", "Twig"])
            let record = ModelRecord(
                type: type, colour: random.one(of: ["red", "Red", "green", "blue"]),
                size: random.below(10))
            let fields =
                "{\"colour\":{\"value\":\"\(record.colour)\"},\"size\":{\"value\":\(record.size)}}"
            let done = try client.modify(
                [operation("forceReplace", key, type: type, fields: fields)],
                zone: more == nil ? zone.name : nil, in: database, more: more)
            try #require(done.records[0].code == nil, "\(done.text)")
            records[zone, default: [:]][key] = record
            tell(zone, key, from: previous, to: record, by: user, device)
        }
    }

    /// Who must hear of a record's change.
    private mutating func tell(
        _ zone: ModelZone, _ name: String, from previous: ModelRecord?, to record: ModelRecord?,
        by user: Int, _ device: String?
    ) {
        let what = record == nil ? "delete" : previous == nil ? "create" : "update"
        let sign = ["create": "+", "update": "~", "delete": "-"][what] ?? ""
        let type = (record ?? previous)?.type
        for subscription in subscriptions {
            switch subscription.kind {
            case "query":
                let isThere =
                    subscription.database == "public"
                    ? zone.owner == nil
                    : zone.owner == subscription.user
                        && (subscription.zone == nil || subscription.zone == zone.name)
                guard isThere, subscription.type == type, subscription.firesOn.contains(what),
                    subscription.matches(record) || subscription.matches(previous)
                else { continue }
                hear(subscription, user, device) {
                    $0[subscription.id, default: []].append("\(zone.name)/\(name)\(sign)")
                }
                if subscription.isOnce { subscriptions.removeAll { $0.id == subscription.id } }
            default: tellLoosely(subscription, zone, type: type, by: user, device)
            }
        }
    }

    private mutating func tellLoosely(
        _ subscription: ModelSubscription, _ zone: ModelZone, type: String?, by user: Int,
        _ device: String?
    ) {
        guard zone.owner != nil, subscription.kind != "query",
            subscription.type == nil || type == nil || subscription.type == type
        else { return }
        let isConcerned =
            switch (subscription.kind, subscription.database) {
            case ("zone", _): zone.owner == subscription.user && subscription.zone == zone.name
            case (_, "private"): zone.owner == subscription.user && zone.name != "_defaultZone"
            default: zone == Self.common && participants.contains(subscription.user)
            }
        guard isConcerned else { return }
        let number = subscription.database == "shared" ? 2 : 1
        let kind = subscription.kind == "zone" ? "fet" : "met"
        let word = "\(subscription.id):\(zone.name) \(kind) \(number)"
        for (index, listener) in listeners[subscription.user].enumerated()
        where subscription.user != user || listener.device != device {
            loose[subscription.user][index].insert(word)
        }
    }

    private mutating func hear(
        _ subscription: ModelSubscription, _ user: Int, _ device: String?,
        _ note: (inout [String: [String]]) -> Void
    ) {
        for (index, listener) in listeners[subscription.user].enumerated()
        where subscription.user != user || listener.device != device {
            note(&ordered[subscription.user][index])
        }
    }

    // MARK: - Subscriptions

    private mutating func subscribe() throws {
        let user = random.below(users.count)
        let kind = random.one(of: ["query", "query", "query", "zone", "database"])
        let database =
            switch kind {
            case "query": random.one(of: ["public", "private"])
            case "zone": "private"
            default: random.one(of: ["private", "shared"])
            }
        var made = ModelSubscription(
            id: "s\(count)", user: user, database: database, kind: kind,
            type: kind == "query" || random.once(in: 3) ? random.one(of: ["Leaf", "Twig"]) : nil)
        var members = "\"subscriptionID\":\"\(made.id)\",\"subscriptionType\":\"\(kind)\""
        if kind == "zone" || (kind == "query" && database == "private" && random.once(in: 2)) {
            // What marks the end of a look lies in the default zone, of which zones would tell.
            made.zone = kind == "zone" ? "Own" : random.one(of: ["Own", "_defaultZone"])
            members += ",\"zoneID\":{\"zoneName\":\"\(made.zone ?? "")\"}"
        }
        if kind == "query" {
            made.firesOn = Set(["create", "update", "delete"].filter { _ in random.happens(60) })
            if made.firesOn.isEmpty { made.firesOn = ["update"] }
            made.isOnce = random.once(in: 6)
            switch random.below(3) {
            case 0: made.filter = .colour(random.one(of: ["red", "GREEN"]))
            case 1: made.filter = .above(random.below(9))
            default: break
            }
            members = querySubscription(
                made.id, type: made.type ?? "", firesOn: made.firesOn.sorted(),
                filter: Self.json(made.filter),
                more: (made.zone.map { ",\"zoneID\":{\"zoneName\":\"\($0)\"}" } ?? "")
                    + (made.isOnce ? ",\"firesOnce\":true" : ""))
        } else if let type = made.type {
            members += ",\"recordType\":\"\(type)\""
        }
        let answer = try users[user].send(
            "\(database)/subscriptions/modify",
            "{\"operations\":[{\"operationType\":\"create\",\"subscription\":{\(members)}}]}")
        let item = answer.json["subscriptions"][0]
        // One that asks for the same is refused.
        guard item.code != "INTERNAL_ERROR" else { return }
        try #require(item.code == nil && item.exists, "\(answer.text)")
        subscriptions.append(made)
    }

    private static func json(_ filter: ModelSubscription.Filter) -> String? {
        switch filter {
        case .none: nil
        case .colour(let colour): textFilter("colour", "EQUALS", colour)
        case .above(let size):
            "{\"fieldName\":\"size\",\"comparator\":\"GREATER_THAN\",\"fieldValue\":{\"value\":\(size)}}"
        }
    }

    private mutating func unsubscribe() throws {
        guard let gone = random.any(of: subscriptions) else { return }
        // What it has caused to be told by now is another question.
        try check()
        guard subscriptions.contains(where: { $0.id == gone.id }) else { return }
        _ = try users[gone.user].send(
            "\(gone.database)/subscriptions/modify",
            "{\"operations\":[{\"operationType\":\"delete\",\"subscription\":{\"subscriptionID\":\"\(gone.id)\"}}]}"
        )
        subscriptions.removeAll { $0.id == gone.id }
    }

    // MARK: - Sharing

    /// Somebody more takes part in the common zone, or somebody no longer does.
    private mutating func share() throws {
        let user = 1 + random.below(users.count - 1)
        var wanted = participants
        let joins = wanted.insert(user).inserted
        if !joins { wanted.remove(user) }
        // Whether those who lose it have heard before would be up to chance.
        if !joins { try check() }
        let share = try users[0].changeShare(
            "cloudkit.zoneshare", zone: "Common",
            participants: wanted.sorted().map { invitation(user: users[$0].name) })
        try #require(share.code == nil, "\(share.raw)")
        if !joins { participants = wanted }
        for subscription in subscriptions {
            tellLoosely(subscription, Self.common, type: "cloudkit.share", by: 0, nil)
        }
        guard joins else { return }
        let accepted = try users[user].accept(share.shortGUID)
        try #require(accepted.status == 200, "\(accepted.text)")
        participants = wanted
        for subscription in subscriptions {
            tellLoosely(subscription, Self.common, type: "cloudkit.share", by: user, nil)
            // They are shown the zone, whatever is in it.
            if subscription.user == user, subscription.database == "shared" {
                tellLoosely(subscription, Self.common, type: nil, by: user, nil)
            }
        }
    }

    // MARK: - Looking

    /// Compares what everybody has heard by now with what they must have.
    mutating func check() throws {
        for (user, devices) in listeners.enumerated() {
            for (index, listener) in devices.enumerated() {
                var heard: [String: [String]] = [:]
                var loosely: Set<String> = []
                for word in try listener.words() {
                    let parts = word.split(separator: ":", maxSplits: 1).map(String.init)
                    if word.contains(" ") {
                        loosely.insert(word)
                    } else {
                        heard[parts[0], default: []].append(parts[1])
                    }
                }
                let location = "seed \(random.seed), step \(count), user \(user), device \(index)"
                try #require(heard == ordered[user][index], "\(location)")
                try #require(loosely == loose[user][index], "\(location)")
                ordered[user][index] = [:]
                loose[user][index] = []
            }
        }
    }
}
