import Awaiting
import Foundation
import Testing

@testable import Server

@Suite("The outbox by command")
struct OutboxCommandTests {
    private let home: DeliveryHome
    private let folder: TemporaryFolder
    private let location = [DeliveryHome.container, "development"]

    init() throws {
        folder = try TemporaryFolder()
        home = try DeliveryHome(folder.path("data"))
    }

    private func run(_ words: String...) throws -> Program.Outcome {
        try Program.run(words + ["--json", "--data", folder.path("data")])
    }

    private func destinations(_ more: String...) throws -> [[String: Any]] {
        let found = try Program.run(
            ["outbox", "list"] + location + more + ["--json", "--data", folder.path("data")])
        return try #require(found.object["destinations"] as? [[String: Any]], "\(found.error)")
    }

    @Test("A notice that a webhook does not take waits in the list, with how often it failed")
    func waiting() throws {
        let receiver = try PostReceiver(answering: "503 Busy")
        try home.addWebhook(at: receiver.port)
        #expect(try destinations().isEmpty)
        try home.save("cup", by: home.ann)
        try Wait.until { try destinations().first?["failures"] as? Int ?? 0 > 0 }
        let entry = try #require(try destinations().first)
        #expect(entry["kind"] as? String == "webhook" && (entry["waiting"] as? Int ?? 0) > 0)
        #expect((entry["device"] as? String)?.hasPrefix("webhook-") == true)
        #expect(entry["since"] is Int && entry["email"] == nil)
        let text = try Program.run(
            ["outbox", "list"] + location + ["--data", folder.path("data")])
        #expect(text.output.contains(", the oldest since "), "\(text.output)")
    }

    @Test("What a webhook refused is listed with the reason, page by page, until it is sent again")
    func deadLetters() throws {
        let receiver = try PostReceiver(answering: "410 Gone")
        try home.addWebhook(at: receiver.port)
        let list = try Program.run(
            ["webhook", "list"] + location + ["--json", "--data", folder.path("data")])
        let name = try #require((list.object["webhook"] as? [String])?.first)
        func letters(_ more: String...) throws -> Program.Outcome {
            try Program.run(
                ["webhook", "dead-letters"] + location + [name] + more
                    + ["--json", "--data", folder.path("data")])
        }
        try home.save("one", by: home.ann)
        try home.save("two", by: home.ann)
        try Wait.until { (try letters().object["deadLetters"] as? [Any])?.count ?? 0 > 1 }
        let first = try letters("--limit", "1")
        let letter = try #require((first.object["deadLetters"] as? [[String: Any]])?.first)
        #expect((letter["reason"] as? String)?.contains("410") == true, "\(letter)")
        #expect(letter["database"] as? String == "public" && letter["givenUp"] is Int)
        let cursor = try #require(first.object["after"] as? String)
        let second = try letters("--after", cursor)
        let rest = try #require(second.object["deadLetters"] as? [[String: Any]])
        #expect(rest.first?["identifier"] as? String != letter["identifier"] as? String)
        #expect(!rest.isEmpty && second.object["after"] == nil)
        #expect(try letters("--after", "x").status != 0)
        let unknown = try Program.run(
            ["webhook", "dead-letters"] + location + ["none", "--data", folder.path("data")])
        #expect(unknown.status == 1 && unknown.error.contains("no such webhook"))
    }

    @Test("A test push reaches each device of one user, one at a time, and nobody else's")
    func testPush() throws {
        let nobody = try run("push", "test", location[0], location[1], "ann@a.example")
        #expect(nobody.status == 0 && (nobody.object["destinations"] as? [Any])?.isEmpty == true)
        let (anns, bobs) = (try home.courier(of: home.ann), try home.courier(of: home.bob))
        for _ in 0..<2 {
            let sent = try run("push", "test", location[0], location[1], "ann@a.example")
            #expect(sent.object["destinations"] as? [String] == ["fetches"], "\(sent.error)")
        }
        let listed = try destinations("--user", "ann@a.example")
        #expect(listed.count == 1 && listed.first?["email"] as? String == "ann@a.example")
        #expect(listed.first?["waiting"] as? Int == 1)
        #expect(try destinations("--user", "bob@a.example").first?["waiting"] as? Int == 0)
        let notice = try #require(try home.poll(anns))
        let alert = (notice["aps"] as? [String: Any])?["alert"] as? [String: Any]
        #expect(alert?["title"] as? String == "Test", "\(notice)")
        #expect((notice["ck"] as? [String: Any])?["nid"] is String)
        #expect(!bobs.isEmpty)
        let stranger = try run("push", "test", location[0], location[1], "none@a.example")
        #expect(stranger.status == 1)
    }
}
