import CloudModel
import Foundation
import Seeding
import Testing

/// Random grants, roles and requests against the plainest reading of the rules.
@Suite("Grants and the model of them, side by side")
struct GrantModelTests {
    struct Record {
        var type: String
        var creator: String
        var n: Int
    }

    struct Somebody {
        let client: WireClient
        let name: String
        let isAnonymous: Bool
        let passes: Bool
        var roles: Set<String> = []
    }

    static let types = ["A", "B", "C"]
    static let custom = ["Gardener", "Mason", "Smith"]
    static let names = (0..<10).map { "n\($0)" }

    /// LENTICULAR_STEPS makes it longer.
    @Test("Random requests under random grants come out as the rules say")
    func random() throws {
        let steps = ProcessInfo.processInfo.environment["LENTICULAR_STEPS"].flatMap { Int($0) }
        var random = SeededRandom("grants")
        var run = try Run(&random)
        for step in 0..<(steps ?? 1_500) {
            do { try run.step(&random) } catch {
                throw WireFailure("seed \(random.seed), step \(step): \(error)")
            }
        }
        for outcome in [
            "looked up", "not read", "not there", "all found", "own found", "not queried", "made",
            "not made", "changed", "not changed", "deleted", "not deleted", "conflict", "hidden",
        ] {
            #expect(run.tally[outcome, default: 0] > 0, "\(outcome) never came: \(run.tally)")
        }
        #expect(try run.server.problems().isEmpty)
    }

    struct Run {
        let server: WireServer
        var people: [Somebody]
        var grants: [String: [String: Permissions]] = [:]
        var records: [String: Record] = [:]
        var tally: [String: Int] = [:]

        init(_ random: inout SeededRandom) throws {
            server = try WireServer()
            let root = try server.key(scope: .container)
            people = [
                Somebody(
                    client: server.visitor(), name: "", isAnonymous: true, passes: false)
            ]
            for name in ["ida", "mo", "nan"] {
                let user = try server.user(name)
                people.append(
                    Somebody(client: user, name: user.name, isAnonymous: false, passes: false))
            }
            let key = try server.key()
            people.append(
                Somebody(
                    client: key, name: try key.recordName(), isAnonymous: false, passes: false))
            people.append(
                Somebody(
                    client: root, name: try root.recordName(), isAnonymous: false, passes: true))
            people.append(
                Somebody(
                    client: root.onBehalf(of: people[1].client), name: people[1].name,
                    isAnonymous: false, passes: true))
            try regrant(&random)
        }

        mutating func step(_ random: inout SeededRandom) throws {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<3: try regrant(&random)
            case 3..<10: try reassign(&random)
            case 10..<30: try lookUp(random.one(of: people), &random)
            case 30..<45: try query(random.one(of: people), random.one(of: GrantModelTests.types))
            default: try modify(random.one(of: people), &random)
            }
        }

        private mutating func regrant(_ random: inout SeededRandom) throws {
            for type in GrantModelTests.types {
                grants[type] = [:]
                for role in ["_world", "_icloud", "_creator"] + GrantModelTests.custom
                where random.happens(35) {
                    grants[type]?[role] = Permissions(
                        rawValue: Int64.random(in: 0...7, using: &random))
                }
            }
            // So that the roles are always there.
            try server.grant(
                grants.merging(["Z": ["Gardener": [], "Mason": [], "Smith": []]]) { $1 })
        }

        private mutating func reassign(_ random: inout SeededRandom) throws {
            let index = Int.random(in: 1...3, using: &random)
            let role = random.one(of: GrantModelTests.custom)
            let isGiven = random.happens(60)
            let changed = try server.assign(role, isGiven, to: people[index].client)
            guard changed == (people[index].roles.contains(role) != isGiven) else {
                throw WireFailure("\(role) \(isGiven): \(changed)")
            }
            if isGiven {
                people[index].roles.insert(role)
            } else {
                people[index].roles.remove(role)
            }
        }

        /// What the rules let somebody do with records of a type.
        private func may(
            _ who: Somebody, _ wanted: Permissions, _ type: String, isOwn: Bool
        ) -> Bool {
            if who.passes { return true }
            var roles: Set = ["_world"]
            if !who.isAnonymous { roles.formUnion(["_icloud"]) }
            if !who.isAnonymous, isOwn { roles.formUnion(["_creator"]) }
            roles.formUnion(who.roles)
            return roles.contains { grants[type]?[$0]?.contains(wanted) == true }
        }

        private func may(_ who: Somebody, _ wanted: Permissions, _ record: Record) -> Bool {
            may(who, wanted, record.type, isOwn: record.creator == who.name)
        }

        private func mayNone(_ who: Somebody, _ wanted: Permissions) -> Bool {
            (GrantModelTests.types + ["Z"]).allSatisfy { !may(who, wanted, $0, isOwn: true) }
        }

        private mutating func note(_ outcome: String) { tally[outcome, default: 0] += 1 }

        private mutating func lookUp(_ who: Somebody, _ random: inout SeededRandom) throws {
            let names = GrantModelTests.names.shuffled(using: &random).prefix(4)
            let found = try who.client.lookup(Array(names), zone: nil, in: "public").records
            for (name, item) in zip(names, found) {
                switch records[name] {
                case let record? where may(who, .read, record):
                    note("looked up")
                    try require(item, code: nil)
                    try require(item, shows: record)
                case nil where !mayNone(who, .read):
                    note("not there")
                    try require(item, code: "NOT_FOUND")
                default:
                    note("not read")
                    try require(item, code: "ACCESS_DENIED")
                    guard item.keys.count == 3 else { throw WireFailure(item.raw) }
                }
            }
        }

        private mutating func query(_ who: Somebody, _ type: String) throws {
            let answer = try who.client.query(type)
            guard may(who, .read, type, isOwn: true) else {
                note("not queried")
                guard answer.status == 403, answer.code == "ACCESS_DENIED" else {
                    throw WireFailure(answer.text)
                }
                return
            }
            let seen = records.filter { $0.value.type == type && may(who, .read, $0.value) }
            guard answer.status == 200, answer.records.compactMap(\.name) == seen.keys.sorted()
            else { throw WireFailure("\(answer.text), not \(seen.keys.sorted())") }
            note(may(who, .read, type, isOwn: false) ? "all found" : "own found")
        }

        private mutating func modify(_ who: Somebody, _ random: inout SeededRandom) throws {
            let name = random.one(of: GrantModelTests.names)
            let kind = random.one(of: [
                "create", "create", "forceUpdate", "forceReplace", "delete", "forceDelete",
            ])
            let previous = records[name]
            let isDeletion = kind.lowercased().contains("delete")
            let type = previous?.type ?? random.one(of: GrantModelTests.types)
            let n = Int.random(in: 0...99, using: &random)
            let answer = try who.client.modify(
                [
                    operation(
                        kind, name, type: isDeletion ? nil : type,
                        fields: isDeletion ? nil : "{\"n\":{\"value\":\(n)}}")
                ], zone: nil, in: "public")
            if who.isAnonymous {
                guard answer.status == 421 else { throw WireFailure(answer.text) }
                return
            }
            let item = answer.records[0]
            if kind == "create" || !isDeletion && previous == nil {
                guard may(who, .create, type, isOwn: true) else {
                    note("not made")
                    return try require(item, reason: "CREATE operation not permitted")
                }
                if let previous {
                    note(may(who, .read, previous) ? "conflict" : "hidden")
                    try require(item, code: "CONFLICT")
                    guard item["serverRecord"].exists == may(who, .read, previous) else {
                        throw WireFailure(item.raw)
                    }
                    return
                }
                note("made")
                records[name] = Record(type: type, creator: who.name, n: n)
                return try require(item, shows: Record(type: type, creator: who.name, n: n))
            }
            guard let previous else {
                guard !mayNone(who, .write) else {
                    note("not deleted")
                    return try require(item, reason: "WRITE operation not permitted")
                }
                return try require(item, code: kind == "delete" ? "NOT_FOUND" : nil)
            }
            guard may(who, .write, previous) else {
                note(isDeletion ? "not deleted" : "not changed")
                return try require(item, reason: "WRITE operation not permitted")
            }
            try require(item, code: nil)
            note(isDeletion ? "deleted" : "changed")
            records[name]?.n = n
            if isDeletion { records[name] = nil }
        }

        private func require(_ item: AnswerPart, code: String?) throws {
            guard item.code == code else {
                throw WireFailure("expected \(code ?? "success"): \(item.raw)")
            }
        }

        private func require(_ item: AnswerPart, reason: String) throws {
            guard item.code == "ACCESS_DENIED", item.reason == reason, item.keys.count == 3 else {
                throw WireFailure("expected \(reason): \(item.raw)")
            }
        }

        private func require(_ item: AnswerPart, shows record: Record) throws {
            guard item["fields"]["n"]["value"].int == Int64(record.n),
                item["created"]["userRecordName"].string == record.creator,
                item["recordType"].string == record.type
            else { throw WireFailure("expected \(record): \(item.raw)") }
        }
    }
}
