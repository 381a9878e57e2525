import ChildProcesses
import CloudModel
import Foundation
import SQLite
import Testing

@testable import Server

/// Every data folder that a release has left opens with the version at hand.
@Suite("Data folders of former versions")
struct FormerDataFolderTests {
    /// A folder out of an archive, with what its clients were told.
    private struct Former {
        let temporary: TemporaryFolder
        let data: String
        let madeAt: Milliseconds
        let requests: [(target: String, body: [String: Any], answer: [String: Any])]

        init(_ archive: String, _ name: String) throws {
            temporary = try TemporaryFolder()
            let tar = ChildProcess()
            tar.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            tar.arguments = ["tar", "-xzf", archive, "-C", temporary.root]
            try tar.run()
            tar.waitUntilExit()
            try #require(tar.terminationStatus == 0)
            data = temporary.path(name)
            let notes = try JSONSerialization.jsonObject(
                with: Data(contentsOf: URL(fileURLWithPath: temporary.path("\(name).json"))))
            let object = try #require(notes as? [String: Any])
            madeAt = try #require(object["madeAtMilliseconds"] as? Int64)
            requests = try #require(object["requests"] as? [[String: Any]]).map { note in
                (
                    try #require(note["target"] as? String),
                    try #require(note["body"] as? [String: Any]),
                    try #require(note["answer"] as? [String: Any])
                )
            }
        }

        /// Where a request of the notes went, with the credentials of whoever sent it.
        func target(_ path: String) throws -> String {
            try #require(requests.first { $0.target.contains(path) }).target
        }
    }

    private static let archives: [String] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Fixtures").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".tar.gz") }.sorted().map { "\(folder)/\($0)" }
    }()

    /// The schemas of an archive, which its name says.
    private static func versions(of archive: String) throws -> (catalog: Int64, store: Int64) {
        let numbers = archive.split(separator: "/").last?.split { !$0.isNumber }.compactMap {
            Int64($0)
        }
        let found = try #require(numbers)
        try #require(found.count >= 2)
        return (found[0], found[1])
    }

    /// The schema of a database.
    private static func version(of path: String) throws -> Int64 {
        let connection = try Connection(path: path, mode: .readOnly)
        return try withExtendedLifetime(connection) {
            let row = try connection.prepare("PRAGMA user_version")
            defer { row.reset() }
            return try row.step() ? row.int64(0) : 0
        }
    }

    /// Whether an answer says all that a former one did; later versions may say more.
    ///
    /// Tokens, markers and links are made anew.
    private static func says(_ now: Any?, all former: Any) -> Bool {
        switch (former, now) {
        case (let former as [String: Any], let now as [String: Any]):
            former.allSatisfy { key, value in
                ["syncToken", "continuationMarker", "downloadURL"].contains(key)
                    ? now[key] != nil : says(now[key], all: value)
            }
        case (let former as [Any], let now as [Any]):
            former.count == now.count && zip(former, now).allSatisfy { says($1, all: $0) }
        case (let former as NSObject, let now as NSObject): former == now
        default: false
        }
    }

    private func askAgain(_ former: Former, _ server: FolderServer) throws {
        for request in former.requests {
            let (status, answer) = try server.ask(request.target, request.body)
            #expect(status == 200, "\(request.target)")
            #expect(
                Self.says(answer, all: request.answer),
                "\(request.target): \(request.body): \(answer) for \(request.answer)")
        }
    }

    @Test("There is a folder to open")
    func exists() { #expect(!Self.archives.isEmpty) }

    @Test(
        "All of it reads as it did, kept tokens and markers go on, and the check finds nothing",
        arguments: archives, ["clean", "killed"])
    func opens(archive: String, name: String) throws {
        let former = try Former(archive, name)
        #expect(former.requests.count > 20)
        for _ in 0..<2 {
            let server = try FolderServer(data: former.data, at: former.madeAt + 1_000)
            defer { server.stop() }
            try askAgain(former, server)
            #expect(try server.folder.problems() == [])
        }
    }

    @Test("What was cut off goes on: the index is filled, the share takes all of its records in")
    func goesOn() throws {
        for archive in Self.archives {
            let former = try Former(archive, "killed")
            let server = try FolderServer(data: former.data, at: former.madeAt + 1_000)
            defer { server.stop() }
            #expect(try Self.crowd(former, server) == 900)
            #expect(try Self.sharedCrowd(former, server) == 902)
            #expect(try server.folder.problems() == [])
        }
    }

    /// How many records a query of the half-filled index finds.
    private static func crowd(_ former: Former, _ server: FolderServer) throws -> Int {
        let target = try former.target("private/records/query")
        let filter: [String: Any] = [
            "fieldName": "n", "comparator": "GREATER_THAN", "fieldValue": ["value": -1],
        ]
        var body: [String: Any] = [
            "zoneID": ["zoneName": "Crowd"], "resultsLimit": 200,
            "query": ["recordType": "Member", "filterBy": [filter]] as [String: Any],
        ]
        var found = 0
        repeat {
            let (status, answer) = try server.ask(target, body)
            #expect(status == 200, "\(answer)")
            found += (answer["records"] as? [Any])?.count ?? 0
            body["continuationMarker"] = answer["continuationMarker"]
        } while body["continuationMarker"] != nil
        return found
    }

    /// How many records somebody is shown who takes part in the share: its root and itself too.
    private static func sharedCrowd(_ former: Former, _ server: FolderServer) throws -> Int {
        let zone: [String: Any] = ["zoneName": "Crowd"]
        let (_, looked) = try server.ask(
            try former.target("private/records/lookup"),
            ["zoneID": zone, "records": [["recordName": "crowd"]]])
        let share = try #require((looked["records"] as? [[String: Any]])?.first)
        let guid = try #require(share["shortGUID"] as? String)
        let owner = (share["zoneID"] as? [String: Any])?["ownerRecordName"]
        let target = try former.target("shared/changes/zone")
        let accept = target.replacing("shared/changes/zone", with: "public/records/accept")
        #expect(try server.ask(accept, ["shortGUIDs": [["value": guid]]]).status == 200)
        var names: Set<String> = []
        var asked: [String: Any] = ["zoneID": ["zoneName": "Crowd", "ownerRecordName": owner]]
        var moreComing = true
        while moreComing {
            let (_, answer) = try server.ask(target, ["zones": [asked]])
            let page = try #require((answer["zones"] as? [[String: Any]])?.first)
            let records = page["records"] as? [[String: Any]] ?? []
            names.formUnion(records.compactMap { $0["recordName"] as? String })
            asked["syncToken"] = page["syncToken"]
            moreComing = page["moreComing"] as? Bool ?? false
        }
        return names.count
    }

    @Test("What is migrated is copied first as it was, and the log says from which version")
    func copies() throws {
        for archive in Self.archives {
            let former = try Former(archive, "clean")
            let server = try FolderServer(data: former.data, at: former.madeAt + 1_000)
            let (status, _) = try server.ask(
                try #require(former.requests.first).target, try #require(former.requests.first).body
            )
            #expect(status == 200)
            server.stop()
            let files = try FileManager.default.subpathsOfDirectory(atPath: former.data)
            let copies = files.filter { $0.contains(".sqlite.v") }
            let versions = try Self.versions(of: archive)
            let catalog = try Self.version(of: "\(former.data)/catalog.sqlite")
            #expect(
                copies.contains("catalog.sqlite.v\(versions.catalog)")
                    == (catalog > versions.catalog))
            let store = try #require(
                copies.first { $0.hasSuffix("store.sqlite.v\(versions.store)") })
            #expect(try Self.version(of: "\(former.data)/\(store)") == versions.store)
            let connection = try Connection(path: "\(former.data)/\(store)", mode: .readOnly)
            #expect(try connection.integrityCheck() == [])
        }
    }
}
