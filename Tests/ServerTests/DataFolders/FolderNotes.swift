import Awaiting
import CloudModel
import Foundation
import Testing

@testable import Server

/// One user's notes on a server that is stopped and started on a folder, which a test may exchange meanwhile.
///
/// Keeps what every answer said of every tag: no tag may ever stand for two contents.
final class FolderNotes {
    let temporary: TemporaryFolder
    private(set) var running: FolderServer?
    private var query = ""
    private var written = 0
    /// What each record held under each tag, in every life.
    private(set) var contents: [String: String] = [:]
    private(set) var reusedTags: [String] = []

    static let container = "iCloud.a"
    private static let base = "/database/1/iCloud.a/development"

    init() throws {
        temporary = try TemporaryFolder()
        let folder = try start().folder
        let id = try folder.containers.create(Self.container, now: 1).id
        _ = try folder.containers.set(["publicChanges": "true"], of: Self.container)
        _ = try folder.users.create(email: "ann@a.example", now: 1)
        let api = try folder.apiTokens.create(container: id, environment: .development, now: 1)
        let web = try folder.webTokens.create(
            container: id, environment: .development, email: "ann@a.example",
            seconds: 31_536_000, now: folder.clock.now())
        query = "?ckAPIToken=\(api.token)&ckWebAuthToken=\(web.token)"
        try post(
            "private/zones/modify",
            ["operations": [["operationType": "create", "zone": ["zoneID": ["zoneName": "z"]]]]])
    }

    deinit { stop() }

    var data: String { temporary.path("data") }
    var store: String { "\(data)/containers/icloud.a/development/store.sqlite" }

    @discardableResult
    func start() throws -> FolderServer {
        stop()
        do {
            let server = try FolderServer(data: data)
            running = server
            return server
        } catch {
            try awaitClosed()
            throw error
        }
    }

    func stop() {
        running?.stop()
        running = nil
    }

    /// Copies the folder as it lies, also while it is served.
    func copy(to name: String) throws { try Self.copy(data, to: temporary.path(name)) }

    /// Puts a copy in the folder's place.
    ///
    /// - Parameter isReleased: whether the test holds nothing of the server any more, so that its databases close.
    func putBack(_ name: String, isReleased: Bool = false) throws {
        stop()
        if isReleased { try awaitClosed() }
        try Self.copy(temporary.path(name), to: data)
    }

    /// Waits until nothing of the folder is open, after a server that was stopped or did not start.
    ///
    /// Another thread may let go of it last: then it closes databases and removes their logs.
    func awaitClosed() throws { try Wait.until { !isOpen } }

    /// Whether this process has files of the folder open, as far as the system tells.
    private var isOpen: Bool {
        let files = FileManager.default
        let open = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return open.contains {
            (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?
                .hasPrefix("\(data)/") == true
        }
    }

    private static func copy(_ source: String, to target: String) throws {
        let files = FileManager.default
        if files.fileExists(atPath: target) { try files.removeItem(atPath: target) }
        try files.createDirectory(atPath: target, withIntermediateDirectories: true)
        for name in try files.contentsOfDirectory(atPath: source)
        where name != "lock" && name != "control.sock" {
            try files.copyItem(atPath: "\(source)/\(name)", toPath: "\(target)/\(name)")
        }
    }

    @discardableResult
    func post(_ path: String, _ body: [String: Any]) throws -> [String: Any] {
        let (_, answer) = try #require(running).ask("\(Self.base)/\(path)\(query)", body)
        return answer
    }

    func status(_ path: String, _ body: [String: Any]) throws -> Int {
        try #require(running).ask("\(Self.base)/\(path)\(query)", body).status
    }

    private func zoneID(_ database: String) -> [String: Any] {
        ["zoneName": database == "public" ? "_defaultZone" : "z"]
    }

    /// Saves a record, whatever there is, with a text that was never saved before.
    func save(_ name: String, in database: String = "private") throws {
        written += 1
        let record: [String: Any] = [
            "recordName": name, "recordType": "Note",
            "fields": ["t": ["value": "text \(written)"], "n": ["value": written]],
        ]
        let answer = try post(
            "\(database)/records/modify",
            [
                "zoneID": zoneID(database),
                "operations": [["operationType": "forceReplace", "record": record]],
            ])
        let saved = try #require((answer["records"] as? [[String: Any]])?.first)
        #expect(saved["serverErrorCode"] == nil, "\(saved)")
        note(saved, in: database)
    }

    /// Holds what an answer said of a record to what any has said of its tag.
    func note(_ record: [String: Any], in database: String) {
        guard let tag = record["recordChangeTag"] as? String,
            let name = record["recordName"] as? String,
            let fields = record["fields"] as? [String: [String: Any]]
        else { return }
        let key = "\(database) \(name) \(tag)"
        let text = fields["t"]?["value"] as? String ?? ""
        if let known = contents[key], known != text {
            reusedTags.append("\(key): \(known) and \(text)")
        }
        contents[key] = text
    }

    /// What a page of the zone's feed answers: its entry, errors too.
    func page(_ token: String?, of database: String = "private") throws -> [String: Any] {
        var zone: [String: Any] = ["zoneID": zoneID(database)]
        if let token { zone["syncToken"] = token }
        let answer = try post("\(database)/changes/zone", ["zones": [zone]])
        let page = try #require((answer["zones"] as? [[String: Any]])?.first)
        for record in page["records"] as? [[String: Any]] ?? [] { note(record, in: database) }
        return page
    }

    /// A page of a query of all notes, one a page.
    func found(after marker: String?) throws -> [String: Any] {
        var body: [String: Any] = [
            "zoneID": zoneID("private"), "resultsLimit": 1,
            "query": [
                "recordType": "Note", "sortBy": [["fieldName": "n", "ascending": true]],
            ] as [String: Any],
        ]
        if let marker { body["continuationMarker"] = marker }
        return try post("private/records/query", body)
    }
}

/// A copy of the notes that follows a feed by its tokens.
final class NoteFollower {
    private let notes: FolderNotes
    private let database: String
    private(set) var token: String?
    /// The texts by the names of the records.
    private(set) var held: [String: String] = [:]
    private(set) var expiries = 0

    init(_ notes: FolderNotes, _ database: String = "private") {
        self.notes = notes
        self.database = database
    }

    /// Brings the copy up to now; begins anew when the token has expired.
    func follow() throws {
        while true {
            let page = try notes.page(token, of: database)
            if page["changeTokenExpired"] as? Bool == true {
                #expect(
                    (page["reason"] as? String)?.hasPrefix("change token expired") == true)
                expiries += 1
                (token, held) = (nil, [:])
                continue
            }
            #expect(page["serverErrorCode"] == nil, "\(page)")
            for record in page["records"] as? [[String: Any]] ?? [] {
                let name = try #require(record["recordName"] as? String)
                let fields = record["fields"] as? [String: [String: Any]]
                held[name] = fields?["t"]?["value"] as? String
            }
            token = page["syncToken"] as? String
            if page["moreComing"] as? Bool != true { return }
        }
    }
}
