import Foundation
import Testing

/// Records of shared trees of which a bit has flipped on the disk.
@Suite("Damaged records of shares")
struct DamagedShareTests {
    private let people: FolderPeople

    init() throws { people = try FolderPeople() }

    private func problems() throws -> [String] { try people.server.folder.problems() }

    private func code(_ answer: [String: Any]?) -> String? {
        answer?["serverErrorCode"] as? String
    }

    /// Follows Bob's feed to its end.
    ///
    /// - Returns: the names of what it showed, the token of the last page and the error at its end.
    private func follow(
        _ token: String?
    ) throws -> (names: [String], token: String?, error: String?) {
        var (names, token) = ([String](), token)
        for _ in 0..<50 {
            let page = try people.page("bob", token)
            if let error = code(page) { return (names, token, error) }
            for record in page["records"] as? [[String: Any]] ?? [] {
                names.append(record["recordName"] as? String ?? "")
            }
            token = page["syncToken"] as? String
            if page["moreComing"] as? Bool != true { return (names, token, nil) }
        }
        Issue.record("the feed does not end: \(names)")
        return (names, token, nil)
    }

    @Test(
        "A participant's feed ends before a damaged record, and goes on once it is gone",
        arguments: [["r"], ["r", "s"]])
    func feed(roots: [String]) throws {
        for root in roots { try people.share(root) }
        func save(_ names: [String], _ number: Int) throws {
            for name in names {
                try people.modify(
                    "ann",
                    [("forceReplace", FolderPeople.note(name, "\(name) \(number)", parent: "r"))])
            }
        }
        try save(["a", "b", "c", "d", "e"], 0)
        let whole = try follow(nil)
        #expect(whole.error == nil)
        for (name, token) in [("c", nil), ("b", whole.token)] {
            try save(["a", "b", "c", "d"], 1)
            try people.decay.damage(name)
            let before = try follow(token)
            #expect(before.error == "INTERNAL_ERROR")
            #expect(before.names.contains("a") && !before.names.contains(name))
            #expect(!before.names.contains("d"), "\(before.names)")
            #expect(try code(people.lookup("bob", name)) == "INTERNAL_ERROR")
            let gone = try people.modify("ann", [("forceDelete", ["recordName": name])])
            #expect(gone[0]["deleted"] as? Bool == true, "\(gone)")
            let after = try follow(before.token)
            #expect(after.error == nil)
            #expect(after.names.contains("d"))
            #expect(try problems() == [])
        }
    }

    @Test(
        "A damaged root is replaced by its owner or a participant, and stays shared where it was",
        arguments: ["ann", "bob"])
    func root(who: String) throws {
        try people.share("r", below: "p")
        try people.modify("ann", [("create", FolderPeople.note("a", "a 0", parent: "r"))])
        let before = try people.lookup("ann", "r")
        let token = try follow(nil).token
        try people.decay.damage("r")
        #expect(try code(people.lookup(who, "r")) == "INTERNAL_ERROR")
        let refused = try people.modify(who, [("forceUpdate", FolderPeople.note("r", "no"))])
        #expect(code(refused.first) == "INTERNAL_ERROR", "\(refused)")
        let parent = who == "ann" ? "p" : nil
        let saved = try people.modify(
            who, [("forceReplace", FolderPeople.note("r", "r 1", parent: parent))])
        #expect(code(saved.first) == nil, "\(saved)")
        let now = try people.lookup("ann", "r")
        #expect(FolderPeople.text(now) == "r 1")
        for key in ["shortGUID", "share", "parent"] {
            let (one, other) = (now[key] as? NSObject, before[key] as? NSObject)
            #expect(one == other && one != nil, "\(key): \(now)")
        }
        let shown = try follow(token)
        #expect(shown.names == ["r"] && shown.error == nil, "\(shown)")
        #expect(try FolderPeople.text(people.lookup("bob", "a")) == "a 0")
        #expect(try problems() == [])
    }

    @Test(
        "A damaged share is replaced by a share, with those who take part in it, and by nothing else"
    )
    func share() throws {
        try people.share("r")
        let before = try people.lookup("ann", "share of r")
        let tag = try #require(before["recordChangeTag"] as? String)
        try people.decay.damage("share of r")
        #expect(try code(people.lookup("ann", "share of r")) == "INTERNAL_ERROR")
        // What stands of the share does not hang on what its record says.
        #expect(try FolderPeople.text(people.lookup("bob", "r")) == "r 0")
        var note = FolderPeople.note("share of r", "no share")
        note["recordChangeTag"] = tag
        let other = try people.modify("ann", [("forceReplace", note)])
        #expect(code(other.first) == "BAD_REQUEST", "\(other)")
        let record: [String: Any] = [
            "recordName": "share of r", "recordType": "cloudkit.share",
            "fields": ["cloudkit.title": ["value": "New title"]], "recordChangeTag": tag,
        ]
        let byBob = try people.modify("bob", [("forceReplace", record)])
        #expect(code(byBob.first) == "ACCESS_DENIED", "\(byBob)")
        let saved = try people.modify("ann", [("forceReplace", record)])
        #expect(code(saved.first) == nil, "\(saved)")
        let now = try people.lookup("ann", "share of r")
        for key in ["shortGUID", "publicPermission", "participants", "owner"] {
            #expect(now[key] as? NSObject == before[key] as? NSObject, "\(key): \(now)")
        }
        #expect(now["fields"] as? NSObject != before["fields"] as? NSObject)
        #expect(try FolderPeople.text(people.lookup("bob", "r")) == "r 0")
        #expect(try problems() == [])
    }

    @Test("Another damaged record does not become a share")
    func noShare() throws {
        try people.share("r")
        try people.modify("ann", [("create", FolderPeople.note("a", "a 0", parent: "r"))])
        try people.decay.damage("a")
        let saved = try people.modify(
            "ann",
            [
                (
                    "forceReplace",
                    [
                        "recordName": "a", "recordType": "cloudkit.share", "fields": [:],
                        "forRecord": ["recordName": "r"],
                    ]
                )
            ])
        #expect(code(saved.first) == "BAD_REQUEST", "\(saved)")
    }

    @Test(
        "A damaged share or root is deleted, and the share ends with it",
        arguments: ["r", "share of r"])
    func deleted(name: String) throws {
        try people.share("r")
        try people.decay.damage(name)
        let operations: [(type: String, record: [String: Any])] = [
            ("forceDelete", ["recordName": name])
        ]
        let gone = try people.modify("ann", operations)
        #expect(gone[0]["deleted"] as? Bool == true, "\(gone)")
        #expect(try code(people.lookup("ann", "share of r")) == "NOT_FOUND")
        #expect(try code(people.lookup("bob", "r")) != nil)
        let root = try people.lookup("ann", "r")
        #expect(name == "r" ? code(root) == "NOT_FOUND" : root["share"] == nil, "\(root)")
        #expect(try problems() == [])
    }

    @Test("No share begins at a damaged record, unless the batch replaces it")
    func beginning() throws {
        try people.modify("ann", [("create", FolderPeople.note("r", "r 0"))])
        let tag = try #require(try people.lookup("ann", "r")["recordChangeTag"] as? String)
        try people.decay.damage("r")
        let share: [String: Any] = [
            "recordName": "s", "recordType": "cloudkit.share", "fields": [:],
            "forRecord": ["recordName": "r", "recordChangeTag": tag],
        ]
        let refused = try people.modify("ann", [("create", share)])
        #expect(code(refused.first) == "INTERNAL_ERROR", "\(refused)")
        #expect(try code(people.lookup("ann", "s")) == "NOT_FOUND")
        let made = try people.modify(
            "ann", [("forceReplace", FolderPeople.note("r", "r 1")), ("create", share)])
        #expect(made.allSatisfy { code($0) == nil }, "\(made)")
        let share2 = try people.lookup("ann", "r")["share"] as? [String: Any]
        #expect(share2?["recordName"] as? String == "s")
        #expect(try problems() == [])
    }
}
