import Configuration
import EngineUnderTest
import Foundation
import Testing

@testable import Control
@testable import Server

/// Ann, who has the zone `z`, and Bob, on a server in this process on a data folder.
final class FolderPeople {
    let temporary: TemporaryFolder
    let server: FolderServer
    private(set) var queries: [String: String] = [:]
    private static let base = "/database/1/iCloud.a/development"

    /// - Parameter configure: changes the settings of its server.
    init(_ configure: (inout ServerConfiguration) -> Void = { _ in }) throws {
        temporary = try TemporaryFolder()
        server = try FolderServer(data: temporary.path("data")) {
            $0.retention.upkeepSeconds = 1
            configure(&$0)
        }
        let folder = server.folder
        let id = try folder.containers.create("iCloud.a", now: 1).id
        let api = try folder.apiTokens.create(container: id, environment: .development, now: 1)
        for name in ["ann", "bob"] {
            let email = "\(name)@a.example"
            _ = try folder.users.create(email: email, now: 1)
            let web = try folder.webTokens.create(
                container: id, environment: .development, email: email, seconds: 31_536_000,
                now: folder.clock.now())
            queries[name] = "?ckAPIToken=\(api.token)&ckWebAuthToken=\(web.token)"
        }
        let zone: [String: Any] = ["zoneID": ["zoneName": "z"]]
        try post(
            "ann", "private/zones/modify",
            ["operations": [["operationType": "create", "zone": zone]]])
    }

    deinit { server.stop() }

    var data: String { temporary.path("data") }
    var decay: StoreDecay {
        StoreDecay(store: "\(data)/containers/icloud.a/development/store.sqlite")
    }

    @discardableResult
    func post(_ who: String, _ path: String, _ body: [String: Any]) throws -> [String: Any] {
        try server.ask("\(Self.base)/\(path)\(queries[who] ?? "")", body).answer
    }

    /// Does operations in the zone `z`, or in the public database where Bob or Ann say so.
    @discardableResult
    func modify(
        _ who: String, _ operations: [(type: String, record: [String: Any])],
        in database: String? = nil, atomic: Bool = true
    ) throws -> [[String: Any]] {
        var body: [String: Any] = [
            "atomic": atomic && database != "public",
            "operations": operations.map { ["operationType": $0.type, "record": $0.record] },
        ]
        if database != "public" { body["zoneID"] = zone(of: who) }
        let location = database ?? (who == "ann" ? "private" : "shared")
        let answer = try post(who, "\(location)/records/modify", body)
        return try #require(answer["records"] as? [[String: Any]] ?? [answer], "\(answer)")
    }

    func lookup(_ who: String, _ name: String) throws -> [String: Any] {
        let answer = try post(
            who, "\(who == "ann" ? "private" : "shared")/records/lookup",
            ["zoneID": zone(of: who), "records": [["recordName": name]]])
        return try #require((answer["records"] as? [[String: Any]] ?? [answer]).first)
    }

    /// A page of the zone's feed, two records each.
    func page(_ who: String, _ token: String?) throws -> [String: Any] {
        var asked: [String: Any] = ["zoneID": zone(of: who), "resultsLimit": 2]
        if let token { asked["syncToken"] = token }
        let answer = try post(
            who, "\(who == "ann" ? "private" : "shared")/changes/zone", ["zones": [asked]])
        return try #require((answer["zones"] as? [[String: Any]])?.first, "\(answer)")
    }

    private(set) var annsName = ""

    private func zone(of who: String) -> [String: Any] {
        who == "ann" ? ["zoneName": "z"] : ["zoneName": "z", "ownerRecordName": annsName]
    }

    /// Has Ann share a tree, and Bob accept it; both may write.
    ///
    /// - Parameter parent: of the root, which nobody shares.
    func share(_ root: String, below parent: String? = nil) throws {
        if let parent { try modify("ann", [("create", Self.note(parent, "\(parent) 0"))]) }
        var record = Self.note(root, "\(root) 0", parent: parent)
        record["createShortGUID"] = true
        let made = try modify(
            "ann",
            [
                ("create", record),
                (
                    "create",
                    [
                        "recordName": "share of \(root)", "recordType": "cloudkit.share",
                        "fields": ["cloudkit.title": ["value": "Title of \(root)"]],
                        "forRecord": ["recordName": root], "publicPermission": "READ_WRITE",
                    ]
                ),
            ])
        let link = try #require(made[0]["shortGUID"] as? String, "\(made)")
        let answer = try post("bob", "public/records/accept", ["shortGUIDs": [["value": link]]])
        #expect(answer["results"] != nil, "\(answer)")
        let caller = try post("ann", "public/users/caller", [:])
        annsName = try #require(caller["userRecordName"] as? String)
    }

    /// Uploads a file for the field `f`; the value that the field takes.
    func upload(_ text: String, as who: String) throws -> [String: Any] {
        let answer = try post(
            who, "private/assets/upload",
            ["tokens": [["recordType": "Note", "fieldName": "f"]]])
        let url = (answer["tokens"] as? [[String: Any]])?.first?["url"] as? String ?? ""
        let start = try #require(url.range(of: "/assets/")?.lowerBound, "\(answer)")
        let connection = WireConnection(
            address: try #require(server.server.addresses.first).description)
        guard
            case .answered(200, let bytes) = connection.send("POST", String(url[start...]), text)
        else { throw CommandFailure("the file was not taken") }
        let object = try JSONSerialization.jsonObject(with: bytes) as? [String: Any]
        return try #require(object?["singleFile"] as? [String: Any])
    }

    /// The files that records may hold, by their paths; not those in the trash.
    func files() throws -> [String] {
        let found = FileManager.default.enumerator(atPath: data)?.allObjects as? [String] ?? []
        return found.filter {
            $0.contains("/assets/") && ($0 as NSString).lastPathComponent.count == 64
        }
    }

    /// A record with a text.
    static func note(_ name: String, _ text: String, parent: String? = nil) -> [String: Any] {
        var record: [String: Any] = [
            "recordName": name, "recordType": "Note", "fields": ["t": ["value": text]],
        ]
        if let parent { record["parent"] = ["recordName": parent] }
        return record
    }

    static func text(_ record: [String: Any]) -> String? {
        (record["fields"] as? [String: [String: Any]])?["t"]?["value"] as? String
    }
}
