import ChildProcesses
import Foundation
import Testing

@testable import Server

/// What is told is told, whatever becomes of the server, the connection or whoever waits.
@Suite("Notices that are cut short")
struct NoticeCrashTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The name of a record, and what tells repeats from news, of a webhook's post.
    private static func read(
        _ post: (head: String, body: Data)
    ) throws -> (
        name: String?, identifier: String
    ) {
        let body = try JSONSerialization.jsonObject(with: post.body) as? [String: Any]
        let line = post.head.split(separator: "\r\n").first {
            $0.lowercased().hasPrefix("webhook-id: ")
        }
        return (body?["recordName"] as? String, String(try #require(line).dropFirst(12)))
    }

    @Test("What was saved before a kill is sent after it, also when nobody had looked for it yet")
    func beforeSending() throws {
        let receiver = try PostReceiver(answering: "204 No Content")
        let home = try DeliveryHome(folder.path("data"))
        try home.addWebhook(at: receiver.port)
        var wanted: Set<String> = []
        for round in 0..<5 {
            let name = "r\(round)"
            try home.save(name, by: home.bob)
            wanted.insert(name)
            try home.killAndRestart()
        }
        // A post for each, some of them twice, and those of the users' own records.
        for _ in 0..<50 where !wanted.isEmpty {
            if let name = try Self.read(receiver.next()).name { wanted.remove(name) }
        }
        #expect(wanted.isEmpty)
    }

    @Test("What was sent, and not noted before a kill, is sent again under the same name")
    func beforeNoting() throws {
        let receiver = try PostReceiver(answering: "204 No Content", holds: true)
        let home = try DeliveryHome(folder.path("data"))
        // The users' own records are made before anybody hears of them.
        try home.save("first", by: home.bob)
        try home.addWebhook(at: receiver.port)
        try home.save("second", by: home.bob)
        let sent = try Self.read(receiver.next())
        #expect(sent.name == "second")
        try home.killAndRestart()
        let again = try Self.read(receiver.next())
        #expect(again == sent)
        receiver.release()
        try home.save("third", by: home.bob)
        var next = try Self.read(receiver.next())
        // The answer to the second may have come too late for the restarted server's patience.
        while next.name == "second" { next = try Self.read(receiver.next()) }
        #expect(next.name == "third" && next.identifier != sent.identifier)
    }

    @Test(
        "A poll whose connection is cut while it waits loses no notice, however it is cut",
        arguments: [false, true])
    func polls(isReset: Bool) throws {
        let home = try DeliveryHome(folder.path("data"))
        try home.save("first", by: home.bob)
        let courier = try home.courier(of: home.ann)
        try home.subscribe(
            "all",
            #""subscriptionType":"query","firesOn":["create"],"query":{"recordType":"Cup"}"#,
            in: "public", by: home.ann)
        for round in 0..<5 {
            let waiting = WireConnection(address: home.server.address)
            try #require(waiting.begin("GET", courier))
            try waitUntilHeld(1, at: home)
            waiting.end(isReset: isReset)
            try home.save("r\(round)", by: home.bob)
            let notice = try #require(try home.poll(courier))
            let about = (notice["ck"] as? [String: Any])?["qry"] as? [String: Any]
            #expect(about?["rid"] as? String == "r\(round)")
        }
    }

    private func waitUntilHeld(_ count: Int, at home: DeliveryHome) throws {
        let deadline = Date(timeIntervalSinceNow: 30)
        while try !home.server.metrics().contains("lenticular_requests_held \(count)\n") {
            try #require(Date.now < deadline, "nobody waits")
        }
    }
}
