import CloudDatabase
import CloudModel
import Storage
import Testing

/// Zones, subscriptions, roles, links, trees and surveys ask an engine as rarely for many as for few.
@Suite("Questions that zones, subscriptions, links and trees ask of an engine")
struct SharedQuestionTests {
    private static let few = 4
    /// As many as one write of a longer request carries out.
    private static let many = 16

    /// What is asked beside a request by those who do queued work.
    private static let ofWorkers: Set = ["nextWorkMoment", "takeWork", "leave"]

    /// - Parameter most: for few and for many.
    private func expectAsFew(
        most: Int, limits: (inout ServiceLimits) -> Void = { _ in },
        _ location: SourceLocation = #_sourceLocation,
        _ prepare: (QuestionBench, Int) throws -> () throws -> Answer
    ) throws {
        func asked(_ count: Int) throws -> [String] {
            let bench = try QuestionBench(limits: limits)
            return try bench.asked(prepare(bench, count)).filter { !Self.ofWorkers.contains($0) }
        }
        let (few, many) = try (asked(Self.few), asked(Self.many))
        #expect(many.count <= most, "\(many)", sourceLocation: location)
        #expect(many.count <= few.count, "\(few) \(many)", sourceLocation: location)
    }

    private func zones(_ kind: String, _ count: Int) -> String {
        let operations = (0..<count).map {
            #"{"operationType":"\#(kind)","zone":{"zoneID":{"zoneName":"z\#($0)"}}}"#
        }
        return "{\"operations\":[\(operations.joined(separator: ","))]}"
    }

    @Test("Zones are made together, are found there together, and are deleted together")
    func zonesModify() throws {
        for kinds in [["create"], ["create", "create"], ["create", "delete"]] {
            try expectAsFew(most: 8) { bench, count in
                func run(_ kind: String) throws -> Answer {
                    try bench.user.send("private/zones/modify", zones(kind, count))
                }
                for kind in kinds.dropLast() { _ = try run(kind) }
                return { try run(kinds[kinds.count - 1]) }
            }
        }
    }

    @Test("Zones are looked up together, own and shared")
    func zonesLookup() throws {
        for isOwner in [true, false] {
            try expectAsFew(most: 8) { bench, count in
                let bo = try bench.server.user("bo")
                for number in 0..<count {
                    let share = try bench.user.shareNote(
                        zone: "Zone\(number)", publicPermission: "READ_WRITE")
                    try bo.join(share.shortGUID)
                }
                let owner = isOwner ? "" : ",\"ownerRecordName\":\(quoted(bench.user.name))"
                let ids = (0..<count).map { "{\"zoneName\":\"Zone\($0)\"\(owner)}" }
                    .joined(separator: ",")
                let (client, database) = isOwner ? (bench.user, "private") : (bo, "shared")
                return { try client.send("\(database)/zones/lookup", "{\"zones\":[\(ids)]}") }
            }
        }
    }

    private func subscriptions(_ kind: String, _ count: Int) -> String {
        let operations = (0..<count).map {
            #"{"operationType":"\#(kind)","subscription":{"subscriptionID":"s\#($0)","#
                + #""subscriptionType":"query","firesOn":["create"],"query":{"recordType":"T\#($0)"}}}"#
        }
        return "{\"operations\":[\(operations.joined(separator: ","))]}"
    }

    @Test("Subscriptions are made, changed, deleted and looked up together")
    func subscriptions() throws {
        for kinds in [["create"], ["create", "update"], ["create", "delete"]] {
            try expectAsFew(most: 8) { bench, count in
                func run(_ kind: String) throws -> Answer {
                    try bench.user.send(
                        "private/subscriptions/modify", subscriptions(kind, count))
                }
                for kind in kinds.dropLast() { _ = try run(kind) }
                return { try run(kinds[kinds.count - 1]) }
            }
        }
        try expectAsFew(most: 2) { bench, count in
            _ = try bench.user.send(
                "private/subscriptions/modify", subscriptions("create", count))
            let ids = (0..<count).map { "\"s\($0)\"" }.joined(separator: ",")
            return {
                try bench.user.send(
                    "private/subscriptions/lookup", "{\"subscriptions\":[\(ids)]}")
            }
        }
    }

    @Test("The roles of users whose records are looked up are read together")
    func roles() throws {
        try expectAsFew(most: 12) { bench, count in
            let users = try (0..<count).map { try bench.server.user("user\($0)") }
            for user in users { _ = try user.send("public/users/caller", nil) }
            let root = try bench.server.key(scope: .container)
            return { try root.lookup(users.map(\.name), zone: nil, in: "public") }
        }
    }

    /// Links to so many shares of Ann's, each of a folder.
    private func links(_ count: Int, _ bench: QuestionBench) throws -> [String] {
        try (0..<count).map { number in
            try bench.user.put(("folder\(number)", nil))
            return try bench.user.share("folder\(number)")
        }
    }

    @Test("Links to shares are resolved together, with their roots")
    func resolve() throws {
        try expectAsFew(most: 14) { bench, count in
            let (links, bo) = (try links(count, bench), try bench.server.user("bo"))
            return {
                try bo.follow("resolve", links, more: ",\"shouldFetchRootRecord\":true")
            }
        }
    }

    @Test("Requests to take part in shares are noted together")
    func requestAccess() throws {
        try expectAsFew(most: 8) { bench, count in
            let (links, bo) = (try links(count, bench), try bench.server.user("bo"))
            return { try bo.follow("requestAccess", links) }
        }
    }

    @Test("What links lead to is looked for once in each write that joins their shares")
    func accept() throws {
        func asked(_ count: Int) throws -> [String] {
            let bench = try QuestionBench()
            let (links, bo) = (try links(count, bench), try bench.server.user("bo"))
            return try bench.asked { try bo.follow("accept", links) }.filter {
                ["shortGUIDs", "accessRequests"].contains($0)
            }
        }
        // Before the write, in it, and for the answer; which reads short identifiers once more, to show them.
        #expect(try asked(Self.many) == asked(Self.few))
    }

    @Test("A folder of many children comes into a shared tree and leaves it as one of few does")
    func tree() throws {
        for goesIn in [true, false] {
            try expectAsFew(most: 40) { bench, count in
                try bench.user.put(("root", nil), ("folder", goesIn ? nil : "root"))
                for number in 0..<count {
                    try bench.user.put(
                        ("child\(number)", "folder"), ("leaf\(number)", "child\(number)"))
                }
                try bench.user.share("root")
                return {
                    let parent = goesIn ? below("root") : "\"parent\":null"
                    return try bench.user.modify([
                        operation(
                            "forceUpdate", "folder", type: "Note", fields: "{}", more: parent)
                    ])
                }
            }
        }
    }

    /// The limits have shares below looked for downwards, and upwards.
    @Test(
        "A folder of many children is shared as one of few is, and in a zone of many shares as in one of few",
        arguments: [1_000, 0])
    func shareOfFolder(_ descendantsReadMax: Int) throws {
        for hasManyChildren in [true, false] {
            try expectAsFew(most: 60, limits: { $0.descendantsReadMax = descendantsReadMax }) {
                bench, count in
                let (children, shares) = hasManyChildren ? (count, 1) : (1, count)
                try bench.user.put(("folder", nil))
                for number in 0..<children {
                    try bench.user.put(
                        ("child\(number)", "folder"), ("leaf\(number)", "child\(number)"))
                }
                for number in 0..<shares {
                    try bench.user.put(("home\(number)", nil), ("root\(number)", "home\(number)"))
                    try bench.user.share("root\(number)")
                }
                let tag = try bench.user.record("folder").tag
                return {
                    try bench.user.modify([
                        shareOperation("create", "s", root: "folder", rootTag: tag)
                    ])
                }
            }
        }
    }

    @Test("Nine hundred records below are looked at by no more questions")
    func shareOfLargeFolder() throws {
        let bench = try QuestionBench()
        try bench.user.shareNote("elsewhere", as: "other")
        try bench.user.put(("folder", nil))
        for first in stride(from: 0, to: 450, by: 90) {
            let saved = try bench.user.modify(
                (first..<first + 90).flatMap { number in
                    [("child\(number)", "folder"), ("leaf\(number)", "child\(number)")].map {
                        operation(
                            "create", $0.0, type: "Note", fields: "{}", more: below($0.1))
                    }
                })
            #expect(saved.records.allSatisfy { $0.code == nil })
        }
        let tag = try bench.user.record("folder").tag
        let asked = try bench.asked {
            try bench.user.modify([
                shareOperation("create", "s", root: "folder", rootTag: tag)
            ])
        }.filter { !Self.ofWorkers.contains($0) }
        let looked = try #require(asked.firstIndex(of: "shortGUIDs"))
        #expect(looked <= 20, "\(asked)")
    }

    @Test("A survey reads what is stored of a zone's shares at once, and of many zones")
    func survey() throws {
        func asked(_ count: Int) throws -> [String] {
            let bench = try QuestionBench()
            _ = try links(count, bench)
            for number in 0..<count { try bench.user.make("Other\(number)") }
            for number in 0..<count {
                _ = try bench.user.save("r", "{\"n\":{\"value\":1}}", zone: "Other\(number)")
            }
            let survey = SurveyRecords(
                RecordSelection(), of: bench.counted, limits: ServiceLimits()
            ) { owner in
                Database(
                    scope: .private, environment: .development,
                    caller: Caller(kind: .user, userRecordName: owner), limits: ServiceLimits(),
                    storage: bench.counted, identities: NoPeople(), random: .system)
            }
            bench.counted.questions.forget()
            var shares: [SurveyedRecord.SharedRoot] = []
            let step = try survey.step(after: .start) { record in
                if let share = record.share { shares.append(share) }
            }
            #expect(step.cursor == nil && shares.count == count)
            #expect(shares.allSatisfy { $0 != .zone })
            return bench.counted.questions.all
        }
        let (few, many) = try (asked(Self.few), asked(Self.many))
        #expect(many.count <= few.count && many.count <= 10, "\(few) \(many)")
    }
}
