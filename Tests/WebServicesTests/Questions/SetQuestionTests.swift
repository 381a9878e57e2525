import CloudDatabase
import CloudModel
import Cryptography
import Storage
import Testing

/// Lists, deletions, files and shared trees ask an engine as rarely for many as for few.
@Suite("Questions that lists and further batches ask of an engine")
struct SetQuestionTests {
    private static let few = 4
    private static let many = 30

    /// What requests for few and for many ask, each on a server of its own.
    private func asked(
        _ prepare: (QuestionBench, Int) throws -> () throws -> Answer
    ) throws -> (few: [String], many: [String]) {
        func asked(_ count: Int) throws -> [String] {
            let bench = try QuestionBench()
            return try bench.asked(prepare(bench, count))
        }
        return try (asked(Self.few), asked(Self.many))
    }

    private func expectAsFew(
        _ asked: (few: [String], many: [String]), most: Int = 8,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(asked.many.count <= most, "\(asked.many)", sourceLocation: location)
        #expect(
            asked.many.count <= asked.few.count, "\(asked.few) \(asked.many)",
            sourceLocation: location)
    }

    private func folder(_ number: Int) -> String { "folder\(number)" }

    @Test("A batch of deletions asks no more than a small one")
    func deletions() throws {
        try expectAsFew(
            asked { bench, count in
                _ = try bench.save(0..<count)
                return {
                    try bench.user.modify(
                        (0..<count).map { operation("forceDelete", "note\($0)", type: "Note") })
                }
            })
    }

    @Test("A batch of records with files asks no more than a small one")
    func files() throws {
        try expectAsFew(
            asked { bench, count in
                let value = try bench.user.asset([1, 2, 3])
                return {
                    try bench.user.modify(
                        (0..<count).map {
                            operation(
                                "forceReplace", "cup\($0)", type: "Cup",
                                fields: "{\"photo\":{\"value\":\(value.raw)}}")
                        })
                }
            })
    }

    @Test("Public records that their creator saves again are asked for together")
    func ownPublic() throws {
        try expectAsFew(
            asked { bench, count in
                func save(_ kind: String) throws -> Answer {
                    try bench.user.modify(
                        (0..<count).map {
                            operation(
                                kind, "note\($0)", type: "Note",
                                fields: "{\"n\":{\"value\":\($0)}}")
                        }, zone: nil, in: "public")
                }
                _ = try save("create")
                return { try save("forceUpdate") }
            }, most: 9)
    }

    /// Bo takes part in so many trees of Ann's, each below a folder.
    private func joined(_ count: Int, _ bench: QuestionBench) throws -> WireClient {
        let bo = try bench.server.user("bo")
        for number in 0..<count {
            try bench.user.put((folder(number), nil))
            try bo.join(try bench.user.share(folder(number)))
        }
        return bo
    }

    @Test("A participant's batch in a shared tree asks no more than a small one")
    func participant() throws {
        try expectAsFew(
            asked { bench, count in
                let bo = try joined(2, bench)
                let zone = SharedZone(bo, of: bench.user)
                func save() throws -> Answer {
                    let operations = (0..<count).map {
                        operation(
                            "forceUpdate", "note\($0)", type: "Note",
                            fields: "{\"n\":{\"value\":\($0)}}",
                            more: "\"parent\":{\"recordName\":\"folder\($0 % 2)\"}")
                    }
                    return try bo.modifyShared(zone, operations)
                }
                _ = try save()
                return save
            }, most: 25)
    }

    @Test("Share records are looked up together, by their owner and by those who take part")
    func shareRecords() throws {
        for isOwner in [true, false] {
            try expectAsFew(
                asked { bench, count in
                    let bo = try joined(count, bench)
                    let zone = SharedZone(bo, of: bench.user)
                    let names = (0..<count).map { "share-folder\($0)" }
                    if isOwner { return { try bench.user.lookup(names) } }
                    let records = names.map { "{\"recordName\":\"\($0)\"}" }
                        .joined(separator: ",")
                    return {
                        try bo.send(
                            "shared/records/lookup", "{\(zone.id),\"records\":[\(records)]}")
                    }
                }, most: 16)
        }
    }

    @Test("Lists of zones and changes of a database ask no more for many zones, own and shared")
    func zones() throws {
        for path in [
            "private/zones/list", "private/changes/database", "private/zones/changes",
            "shared/zones/list", "shared/changes/database", "shared/zones/changes",
        ] {
            try expectAsFew(
                asked { bench, count in
                    let bo = try bench.server.user("bo")
                    for number in 0..<count {
                        let share = try bench.user.shareNote(
                            zone: "Zone\(number)", publicPermission: "READ_WRITE")
                        try bo.join(share.shortGUID)
                    }
                    let caller = path.hasPrefix("shared") ? bo : bench.user
                    return { try caller.send(path, "{}") }
                })
        }
    }

    @Test("Share records are saved together, and short identifiers asked for together")
    func sharesSaved() throws {
        try expectAsFew(
            asked { bench, count in
                _ = try joined(count, bench)
                let operations = try (0..<count).map { number in
                    let name = "share-folder\(number)"
                    return shareOperation(
                        "update", name, publicPermission: "READ_WRITE",
                        tag: try bench.user.record(name).tag)
                }
                return { try bench.user.modify(operations) }
            }, most: 20)
        try expectAsFew(
            asked { bench, count in
                _ = try bench.save(0..<count)
                return {
                    try bench.user.modify(
                        (0..<count).map {
                            operation(
                                "forceUpdate", "note\($0)", type: "Note", fields: "{}",
                                more: "\"createShortGUID\":true")
                        })
                }
            }, most: 12)
    }

    @Test(
        "A participant deletes records of a tree together, and leaves shares again that they have left"
    )
    func participantDeletes() throws {
        try expectAsFew(
            asked { bench, count in
                let bo = try joined(1, bench)
                let zone = SharedZone(bo, of: bench.user)
                _ = try bench.user.modify(
                    (0..<count).map {
                        operation(
                            "forceUpdate", "note\($0)", type: "Note", fields: "{}",
                            more: below("folder0"))
                    })
                let deletions = (0..<count).map {
                    operation("forceDelete", "note\($0)", type: "Note")
                }
                return { try bo.modifyShared(zone, deletions) }
            }, most: 24)
        try expectAsFew(
            asked { bench, count in
                let bo = try joined(count, bench)
                let zone = SharedZone(bo, of: bench.user)
                let deletions = (0..<count).map {
                    operation("forceDelete", "share-folder\($0)", type: "cloudkit.share")
                }
                _ = try bo.modifyShared(zone, deletions)
                return { try bo.modifyShared(zone, deletions) }
            }, most: 16)
    }

    /// What of a shared zone's changes Bo asks for first, then after changes, and after records have left his trees.
    private func askedForChanges(_ trees: Int) throws -> [[String]] {
        let bench = try QuestionBench()
        let bo = try joined(trees, bench)
        let zone = SharedZone(bo, of: bench.user)
        // A page as long as all of it, however many trees that is.
        let each = 120 / trees
        func save(_ parent: (Int) -> String) throws {
            for tree in 0..<trees {
                _ = try bench.user.modify(
                    (0..<each).map { number in
                        operation(
                            "forceUpdate", "note\(tree)-\(number)", type: "Note",
                            fields: "{\"n\":{\"value\":\(number)}}", more: parent(tree))
                    })
            }
        }
        var token: String?
        func page() throws -> [String] {
            let known = token.map { ",\"syncToken\":\(quoted($0))" } ?? ""
            var page: AnswerPart?
            let asked = try bench.asked {
                let answer = try bo.send(
                    "shared/changes/zone", "{\"zones\":[{\(zone.id)\(known)}]}")
                page = answer.json["zones"][0]
                return answer
            }
            token = page?["syncToken"].string
            #expect(page?["records"].elements.count ?? 0 >= trees * each)
            return asked
        }
        try save { below("folder\($0)") }
        let first = try page()
        try save { below("folder\($0)") }
        _ = try bench.user.save("other", "{\"n\":{\"value\":1}}")
        let changes = try page()
        try save { _ in "\"parent\":null" }
        return try [first, changes, page()]
    }

    @Test("Changes of a shared zone ask no more in many trees than in few")
    func sharedChanges() throws {
        let (few, many) = try (askedForChanges(2), askedForChanges(Self.many))
        for (few, many) in zip(few, many) {
            #expect(many.count <= 16 && many.count <= few.count + 2, "\(few) \(many)")
        }
    }

    @Test("A person's lists of shares ask no more for many shares, own and joined")
    func shares() throws {
        for isOwner in [true, false] {
            func asked(_ count: Int) throws -> [String] {
                let bench = try QuestionBench()
                let bo = try joined(count, bench)
                let name = isOwner ? bench.user.name : bo.name
                let user = try #require(UserRecordName(name))
                let database = Database(
                    scope: .public, environment: .development,
                    caller: Caller(kind: .user, userRecordName: user),
                    limits: ServiceLimits(), storage: bench.counted, identities: NoPeople(),
                    random: .system)
                bench.counted.questions.forget()
                #expect(try BrowseShares(of: user, in: database).run().count == count)
                let listed = try bench.counted.read {
                    try ListShares(of: user, in: database).run($0)
                }
                #expect(listed.count == count && listed.allSatisfy { $0.isOwn == isOwner })
                return bench.counted.questions.all
            }
            try expectAsFew((asked(Self.few), asked(Self.many)), most: 24)
        }
    }
}

extension WireClient {
    fileprivate func modifyShared(_ zone: SharedZone, _ operations: [String]) throws -> Answer {
        try send(
            "shared/records/modify",
            "{\(zone.id),\"operations\":[\(operations.joined(separator: ","))]}")
    }
}

/// These tests ask for nobody's name.
struct NoPeople: Identities {
    func person(named name: UserRecordName) throws -> Person? { nil }
}
