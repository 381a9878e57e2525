import ChildProcesses
import Cryptography
import Foundation
import PythonProgram
import Testing

@testable import Server

/// Two people, several devices: each kind of subscription in each database, by each delivery.
@Suite("Every kind of notice, by every delivery")
struct EveryDeliveryTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// What Ann subscribes to: by ID, the database, the kind and what tells of it.
    private static let subscriptions = [
        (
            "public query", "public",
            #""subscriptionType":"query","firesOn":["create"],"#
                + #""query":{"recordType":"Cup"}"#, "qry"
        ),
        (
            "private query", "private",
            #""subscriptionType":"query","firesOn":["create"],"#
                + #""query":{"recordType":"Cup"}"#, "qry"
        ),
        ("zone", "private", #""subscriptionType":"zone","zoneID":{"zoneName":"Shelf"}"#, "fet"),
        ("private database", "private", #""subscriptionType":"database""#, "met"),
        ("shared database", "shared", #""subscriptionType":"database""#, "met"),
    ]

    /// Ann's zone, and a first cup of each in both databases.
    private func furnish(_ home: DeliveryHome) throws {
        try home.call(
            "private/zones/modify", by: home.ann,
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Shelf"}}}]}"#)
        for database in ["public", "private"] {
            for caller in [home.ann, home.bob] {
                try home.save(
                    "first-\(database)-\(caller.suffix(8))", in: database, by: caller)
            }
        }
    }

    /// Bob shares a zone with Ann, who takes part.
    private func share(_ home: DeliveryHome) throws -> String {
        let users = try home.call("public/users/caller", by: home.ann, "{}")
        let ann = try #require(users["userRecordName"] as? String)
        let bob = try #require(
            home.call("public/users/caller", by: home.bob, "{}")["userRecordName"] as? String)
        try home.call(
            "private/zones/modify", by: home.bob,
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Common"}}}]}"#)
        let made = try home.call(
            "private/records/modify", by: home.bob,
            #"{"zoneID":{"zoneName":"Common"},"operations":[{"operationType":"create","record":{"#
                + #""recordName":"cloudkit.zoneshare","recordType":"cloudkit.share","#
                + #""publicPermission":"NONE","participants":[{"userIdentity":{"lookupInfo":"#
                + #"{"userRecordName":"\#(ann)"}},"type":"USER","permission":"READ_WRITE"}]}}]}"#)
        let record = try #require((made["records"] as? [[String: Any]])?.first)
        let guid = try #require(record["shortGUID"] as? String, "\(record)")
        try home.call(
            "public/records/accept", by: home.ann,
            "{\"shortGUIDs\":[{\"value\":\"\(guid)\"}]}")
        return bob
    }

    /// One change for each subscription, by Bob where Ann's own devices would not be told otherwise.
    private func change(_ home: DeliveryHome, bob: String) throws {
        try home.save("p", in: "public", by: home.bob)
        try home.save("d", in: "private", by: home.ann)
        try home.save("z", in: "private", zone: #""zoneName":"Shelf""#, by: home.ann)
        try home.save("s", in: "private", zone: #""zoneName":"Common""#, by: home.bob)
    }

    private static func subscription(of notice: [String: Any]) -> String? {
        guard let about = notice["ck"] as? [String: Any] else { return nil }
        for (id, _, _, kind) in subscriptions {
            if (about[kind] as? [String: Any])?["sid"] as? String == id { return id }
        }
        return nil
    }

    @Test("Every subscription is heard of at every device of its user, and nobody else's")
    func all() throws {
        let apple = try ApplePushStandIn()
        let hook = try PostReceiver(answering: "204 No Content")
        let home = try DeliveryHome(folder.path("data"), environment: apple.environment)
        try furnish(home)
        let bob = try share(home)
        let phone = try home.courier(of: home.ann)
        let tablet = try home.courier(of: home.ann)
        let others = try home.courier(of: home.bob)
        try apple.register(home, key: folder.path("key.p8"))
        try home.addWebhook(at: hook.port)
        for (id, database, members, _) in Self.subscriptions {
            try home.subscribe(id, members, in: database, by: home.ann)
        }
        let stream = WireConnection(address: home.server.address)
        defer { stream.end() }
        try #require(stream.begin("GET", tablet, "Accept: text/event-stream\r\n"))
        try change(home, bob: bob)

        let wanted = Set(Self.subscriptions.map(\.0))
        var heard: Set<String> = []
        for _ in 0..<20 where heard != wanted {
            if let id = try home.poll(phone).flatMap(Self.subscription) { heard.insert(id) }
        }
        #expect(heard == wanted, "by polls")
        // The quotes around each tell it from others' names.
        let events = try #require(
            stream.text { text in wanted.allSatisfy { text.contains("\"sid\":\"\($0)\"") } })
        #expect(events.contains("text/event-stream"))
        // Pushes to browsers only go to the internet.
        #expect(try apple.heard(wanted.count, Self.subscription) == apple.expected(wanted))
        var told: Set<String> = []
        for _ in 0..<20 where told != ["p", "d", "z", "s"] {
            let body = try JSONSerialization.jsonObject(with: hook.next().body) as? [String: Any]
            if let name = body?["recordName"] as? String { told.insert(name) }
        }
        #expect(told == ["p", "d", "z", "s"], "by webhook")
        // Nothing is Bob's to hear: what he asks for himself is the first that he is told.
        try home.subscribe(
            "mine",
            #""subscriptionType":"query","firesOn":["create"],"query":{"recordType":"Cup"}"#,
            in: "public", by: home.bob)
        try home.save("last", in: "public", by: home.ann)
        let first = try #require(try home.poll(others))
        let about = (first["ck"] as? [String: Any])?["qry"] as? [String: Any]
        #expect(about?["sid"] as? String == "mine")
    }
}
