import CloudModel
import Seeding
import Storage

/// Random requests of several users against a server and the model of it, compared step by step.
final class ModelRun {
    private let server: WireServer
    private let isBesideWriter: Bool
    private let users: [WireClient]
    /// By user name; "public" is everybody's.
    private var databases: [String: ModelDatabase] = [:]
    private var schema: [String: [String: String]] = [:]
    private var followers: [ModelFollower] = []
    private var zonesFollowers: [ModelZonesFollower] = []
    private var random: SeededRandom
    private var steps = 0
    /// How often each came out, to see that nothing is left untried.
    private(set) var tally: [String: Int] = [:]

    private static let zones = ["A", "B", "C"]
    private static let names = (0..<8).map { "n\($0)" }

    /// - Parameter isBesideWriter: whether batches are decided on snapshots.
    init(random: SeededRandom, isBesideWriter: Bool) throws {
        self.random = random
        self.isBesideWriter = isBesideWriter
        server = try WireServer { if isBesideWriter { $0.writerMillisecondsMax = 0 } }
        users = try ["ida", "mo"].map { [server] in try server.user($0, seconds: 31_000_000) }
        databases["public"] = ModelDatabase(isPublic: true)
        for user in users {
            // The first request of all opens the store, and the first of each user makes them known: those
            // that come at once with it would overtake it.
            _ = try user.lookup(["none"], zone: nil)
            databases[user.name] = ModelDatabase(isPublic: false)
            zonesFollowers += [ModelZonesFollower(client: user), ModelZonesFollower(client: user)]
            for zone in Self.zones {
                followers += [
                    ModelFollower(client: user, zone: zone),
                    ModelFollower(client: user, zone: zone),
                ]
            }
        }
    }

    /// Takes that many steps, then holds the whole store to the model.
    ///
    /// - Returns: the generator, to go on with.
    func run(steps count: Int) throws -> SeededRandom {
        for _ in 0..<count {
            steps += 1
            do { try step() } catch {
                throw WireFailure("seed \(random.seed), step \(steps): \(error)")
            }
        }
        do { try finish() } catch {
            throw WireFailure("seed \(random.seed), after \(steps) steps: \(error)")
        }
        return random
    }

    private func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<55: try burst()
        case 55..<62: try lookup()
        case 62..<90:
            let index = Int.random(in: followers.indices, using: &random)
            let database = databases[followers[index].client.name]
            try followers[index].read(
                limit: random.one(of: [1, 2, 3, 7, 200, 200]), reverse: random.happens(20),
                expect(database))
        case 90..<97:
            let index = Int.random(in: zonesFollowers.indices, using: &random)
            try zonesFollowers[index].read(
                limit: random.one(of: [1, 2, 200]),
                expect(databases[zonesFollowers[index].client.name]))
        default: try collect()
        }
    }

    private func expect<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw WireFailure("something is missing") }
        return value
    }

    private func collect() throws {
        server.clock.advance(Int64.random(in: 1...20, using: &random))
        guard random.happens(60) else { return }
        let moment = server.clock.now - Int64.random(in: 0...60, using: &random)
        try server.collect(olderThan: moment, limit: random.one(of: [1, 3, 1_000]))
        for key in databases.keys { databases[key]?.collect(olderThan: moment) }
    }

    // MARK: - Writes

    /// Several requests that are on their way together, and so share a commit.
    private func burst() throws {
        var checks: [() throws -> Void] = []
        // Requests under way at once keep their order in the writer alone, which the model relies on.
        let count = random.one(of: [1, 1, 1, 2, 5])
        for _ in 0..<(isBesideWriter ? 1 : count) {
            let user = random.one(of: users)
            if random.happens(15) {
                checks.append(zones(user))
            } else if random.happens(15) {
                // What it leaves of others' goes after it, and before anything else that is looked at.
                for check in checks { try check() }
                checks = []
                try modify(user, isPublic: true)()
            } else {
                checks.append(modify(user, isPublic: false))
            }
        }
        for check in checks { try check() }
    }

    private func zones(_ user: WireClient) -> () throws -> Void {
        let name = random.one(of: Self.zones)
        let isMade = random.happens(60)
        let pending = user.start(
            "private/zones/modify",
            """
            {"operations":[{"operationType":"\(isMade ? "create" : "delete")",\
            "zone":{"zoneID":{"zoneName":"\(name)"}}}]}
            """)
        return { [self] in
            let item = try pending.answer().json["zones"][0]
            var database = try expect(databases[user.name])
            if isMade {
                database.make(name)
                guard item.code == nil else { throw WireFailure("not made: \(item.raw)") }
            } else {
                let wasThere = database.remove(name, at: server.clock.now)
                guard item.code == (wasThere ? nil : "ZONE_NOT_FOUND") else {
                    throw WireFailure("expected \(wasThere): \(item.raw)")
                }
            }
            databases[user.name] = database
        }
    }

    private func modify(_ user: WireClient, isPublic: Bool) -> () throws -> Void {
        let key = isPublic ? "public" : user.name
        let zone = isPublic || random.happens(15) ? "_defaultZone" : random.one(of: Self.zones)
        let atomic: Bool? =
            zone == "_defaultZone"
            ? random.one(of: [nil, false]) : random.one(of: [nil, nil, true, false, false])
        let names = Self.names.shuffled(using: &random)
            .prefix(random.one(of: [1, 1, 2, 3, 5, 8]))
        let operations = names.map { makeOperation($0, in: zone, of: databases[key]) }
        var members = [
            "\"operations\":[\(operations.map(\.json).joined(separator: ","))]",
            "\"zoneID\":{\"zoneName\":\"\(zone)\"}",
        ]
        if let atomic { members.append("\"atomic\":\(atomic)") }
        let body = "{\(members.joined(separator: ","))}"
        let pending = user.start("\(isPublic ? "public" : "private")/records/modify", body)
        return { [self] in
            let answer = try pending.answer()
            var database = try expect(databases[key])
            guard database.zones[zone] != nil else {
                guard answer.status == 404, answer.code == "ZONE_NOT_FOUND" else {
                    throw WireFailure("expected no zone: \(answer.text)")
                }
                return
            }
            var batch = ModelBatch(
                operations, zone: zone, atomic: atomic, user: user.name, now: server.clock.now)
            database.schema = schema
            let outcomes = batch.run(on: &database)
            schema = database.schema
            do { try learn(answer, operations, outcomes, zone, &database) } catch {
                throw WireFailure("\(error)\n\(body)\n\(answer.text)\n\(outcomes)")
            }
            if isPublic { try deleteSources(of: batch.buried, &database) }
            databases[key] = database
        }
    }

    private func deleteSources(
        of buried: [ModelDatabase.RecordID: String], _ database: inout ModelDatabase
    ) throws {
        try server.finishDeletions()
        let wrong = try database.deleteSources(of: buried, at: server.clock.now) { name in
            tally["of others", default: 0] += 1
            return try users[0].record(name, zone: "_defaultZone", in: "public").code == "NOT_FOUND"
        }
        guard wrong.isEmpty else { throw WireFailure("kept or gone: \(wrong)") }
    }

    /// Holds an answer to what must come of it, and takes over tags and bodies.
    private func learn(
        _ answer: Answer, _ operations: [ModelOperation], _ outcomes: [ModelBatch.Outcome],
        _ zone: String, _ database: inout ModelDatabase
    ) throws {
        guard answer.status == 200, answer.records.count == operations.count else {
            throw WireFailure("expected 200 with \(operations.count) records")
        }
        for ((operation, outcome), item) in zip(zip(operations, outcomes), answer.records) {
            tally[outcome.code ?? operation.kind, default: 0] += 1
            guard item.code == outcome.code, item.name == operation.name else {
                throw WireFailure("\(operation.name): expected \(outcome), not \(item.raw)")
            }
            switch outcome {
            case .failed: continue
            case .deleted:
                guard item.raw == "{\"recordName\":\"\(operation.name)\",\"deleted\":true}" else {
                    throw WireFailure("\(operation.name): no deletion")
                }
            case .saved:
                // It may be gone again, with what it refers to.
                guard let record = database.zones[zone]?.records[operation.name] else { continue }
                try compare(item, record)
                database.zones[zone]?.records[operation.name]?.tag = item.tag
                database.zones[zone]?.records[operation.name]?.raw = item.raw
            }
        }
    }

    private func compare(_ item: AnswerPart, _ record: ModelDatabase.Record) throws {
        let fields = item["fields"]
        var found: [String: String] = [:]
        for key in fields.keys { found[key] = fields[key].raw }
        guard found == record.fields.mapValues(\.json), item["recordType"].string == record.type,
            item["parent"]["recordName"].string == record.parent,
            item["created"]["userRecordName"].string == record.creator, item.tag != record.tag
        else { throw WireFailure("expected \(record)") }
    }

    private func makeOperation(
        _ name: String, in zone: String, of database: ModelDatabase?
    ) -> ModelOperation {
        let kind = random.one(of: [
            "create", "create", "update", "forceUpdate", "forceUpdate", "replace", "forceReplace",
            "delete", "forceDelete",
        ])
        var operation = ModelOperation(kind: kind, name: name)
        let previous = database?.zones[zone]?.records[name]
        let types = ["Cup", "Tin", "T\(steps / 30)"]
        let type = previous?.type ?? random.one(of: types)
        operation.type = random.happens(4) ? random.one(of: types) : type
        if kind != "create", random.happens(15) { operation.type = nil }
        if operation.compares, kind != "delete" || random.happens(50) {
            operation.tag = random.happens(15) ? "stale" : previous?.tag ?? "x"
        }
        operation.isIllFormed = random.happens(2)
        if random.happens(50) {
            let number = Int.random(in: 0...99, using: &random)
            operation.fields["a"] = ModelField(value: "\(number)", type: "INT64")
        }
        if random.happens(15) { operation.fields.updateValue(nil, forKey: "a") }
        if random.happens(20) {
            operation.fields["s"] = ModelField(value: "\"\(name) \(steps)\"", type: "STRING")
        }
        if random.happens(20) {
            // A field that is new every few steps, and of the type that comes first.
            operation.fields["f\(steps / 5)"] =
                random.happens(70)
                ? ModelField(value: "7", type: "INT64") : ModelField(value: "\"7\"", type: "STRING")
        }
        if random.happens(35) { operation.fields["ref"] = reference(in: database) }
        if random.happens(10) { operation.fields["list"] = references(in: database) }
        if random.happens(15) { operation.fields.updateValue(nil, forKey: "ref") }
        if random.happens(15) { operation.parent = .set(random.one(of: Self.names)) }
        if random.happens(10) { operation.parent = .cleared }
        return operation
    }

    private func makeReference(in database: ModelDatabase?) -> ModelField.Reference {
        let locations = database?.isPublic == true ? [nil] : [nil, nil, nil, "A", "B", "C"]
        return ModelField.Reference(
            name: random.one(of: Self.names), zone: random.one(of: locations),
            action: random.one(of: ["NONE", "DELETE_SELF", "DELETE_SELF", "VALIDATE"]))
    }

    private func reference(in database: ModelDatabase?) -> ModelField {
        let made = makeReference(in: database)
        return ModelField(value: made.json, type: "REFERENCE", references: [made])
    }

    private func references(in database: ModelDatabase?) -> ModelField {
        let made = (0..<random.one(of: [0, 1, 2, 3])).map { _ in makeReference(in: database) }
        return ModelField(
            value: "[\(made.map(\.json).joined(separator: ","))]", type: "REFERENCE_LIST",
            references: made)
    }

    // MARK: - Reads

    private func lookup() throws {
        let user = random.one(of: users)
        let isPublic = random.happens(20)
        let zone = isPublic ? "_defaultZone" : random.one(of: Self.zones + ["_defaultZone"])
        try compareLookup(user, zone: zone, isPublic: isPublic)
    }

    private func compareLookup(_ user: WireClient, zone: String, isPublic: Bool) throws {
        let model = databases[isPublic ? "public" : user.name]?.zones[zone]
        let answer = try user.lookup(
            Self.names, zone: zone, in: isPublic ? "public" : "private")
        guard let model else {
            guard answer.code == "ZONE_NOT_FOUND" else { throw WireFailure(answer.text) }
            return
        }
        for (name, item) in zip(Self.names, answer.records) {
            let isRight =
                model.records[name].map { $0.raw == item.raw } ?? (item.code == "NOT_FOUND")
            guard isRight else {
                throw WireFailure("\(name): \(item.raw), not \(model.records[name]?.raw ?? "-")")
            }
        }
    }

    private func finish() throws {
        for user in users {
            for zone in Self.zones + ["_defaultZone"] {
                try compareLookup(user, zone: zone, isPublic: false)
            }
            try compareLookup(user, zone: "_defaultZone", isPublic: true)
        }
        let problems = try server.problems()
        guard problems.isEmpty else { throw WireFailure(problems.joined(separator: "; ")) }
        for (key, database) in databases {
            let expected = database.zones.values.flatMap(\.records.values)
                .reduce(Int64(0)) { $0 + Int64($1.raw.utf8.count) }
            let name = key == "public" ? UserRecordName.publicOwner : UserRecordName(key)
            let used = try server.store().read { snapshot in
                try name.flatMap { try snapshot.owner(named: $0) }?.usedBytes ?? 0
            }
            guard used == expected else {
                throw WireFailure("\(key) uses \(used) bytes, not \(expected)")
            }
        }
    }
}
