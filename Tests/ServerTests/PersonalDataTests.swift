import ChildProcesses
import Foundation
import Testing

/// Export and erasure of a person, on a server that runs.
@Suite("All that is kept of a person")
struct PersonalDataTests {
    private static let container = "iCloud.org.example.Notes"
    private let folder: TemporaryFolder
    private let server: ServerProcess

    /// Somebody with a web token.
    private struct User {
        let server: ServerProcess
        let query: String
        let name: String

        func post(_ endpoint: String, _ body: Any) throws -> [String: Any] {
            let text = String(
                decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
            let path = "/database/1/\(PersonalDataTests.container)/development/\(endpoint)\(query)"
            let answer = try server.request(path, ["--data-raw", text])
            #expect(answer.status == 200, "\(answer.text)")
            let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
            return object as? [String: Any] ?? [:]
        }

        @discardableResult
        func save(
            _ records: [[String: Any]], zone: String? = "Notes", kind: String = "create"
        ) throws -> [[String: Any]] {
            let database = zone == nil ? "public" : "private"
            var body: [String: Any] = [
                "operations": records.map { ["operationType": kind, "record": $0] }
            ]
            if let zone { body["zoneID"] = ["zoneName": zone] }
            let answer = try post("\(database)/records/modify", body)
            let saved = answer["records"] as? [[String: Any]] ?? []
            for item in saved { #expect(item["serverErrorCode"] == nil, "\(item)") }
            return saved
        }

        func upload(_ text: String) throws -> [String: Any] {
            let answer = try post(
                "public/assets/upload",
                ["tokens": [["recordType": "Note", "fieldName": "file"]]])
            let url = (answer["tokens"] as? [[String: Any]])?.first?["url"] as? String ?? ""
            let start = try #require(url.range(of: "/assets/")?.lowerBound)
            let sent = try server.request(String(url[start...]), ["--data-raw", text])
            let object = try JSONSerialization.jsonObject(with: Data(sent.body.utf8))
            return (object as? [String: Any])?["singleFile"] as? [String: Any] ?? [:]
        }
    }

    init() throws {
        folder = try TemporaryFolder()
        server = try ServerProcess(data: folder.path("data"))
        #expect(try server.command("container", "create", Self.container).status == 0)
    }

    private func user(_ email: String, _ api: String) throws -> User {
        #expect(
            try server.command("user", "create", email, "--given-name", "Ida").status == 0)
        let made = try server.command(
            "web-token", "create", Self.container, "development", email, "--json"
        ).object
        let token = try #require(made["webAuthToken"] as? String)
        return User(
            server: server, query: "?ckAPIToken=\(api)&ckWebAuthToken=\(token)",
            name: try #require(made["userRecordName"] as? String))
    }

    private func note(_ name: String, _ text: String, _ more: [String: Any] = [:]) -> [String: Any]
    {
        ["recordName": name, "recordType": "Note", "fields": ["text": ["value": text]]]
            .merging(more) { $1 }
    }

    /// Ida with private and public records, files and shares, and Mo beside her.
    private func story() throws -> (ida: User, mo: User) {
        let api = try #require(
            try server.command("api-token", "create", Self.container, "development", "--json")
                .object["apiToken"] as? String)
        let (ida, mo) = (try user("ida@example.org", api), try user("mo@example.org", api))
        for one in [ida, mo] {
            _ = try one.post(
                "private/zones/modify",
                [
                    "operations": [
                        ["operationType": "create", "zone": ["zoneID": ["zoneName": "Notes"]]]
                    ]
                ])
        }
        try ida.save([note("diary", "Secret of Ida")])
        let file = try ida.upload("the bytes of a file")
        try ida.save(
            [
                [
                    "recordName": "poem", "recordType": "Note",
                    "fields": ["file": ["value": file], "text": ["value": "A poem of Ida"]],
                ]
            ], zone: nil)
        try mo.save([note("reply", "A reply of Mo")], zone: nil)
        let made = try mo.save([
            note("list", "Tea", ["createShortGUID": true]),
            [
                "recordName": "Share-list", "recordType": "cloudkit.share", "fields": [:],
                "forRecord": ["recordName": "list"], "publicPermission": "READ_WRITE",
            ],
        ])
        let link = ["value": try #require(made[0]["shortGUID"] as? String)]
        _ = try ida.post("public/records/accept", ["shortGUIDs": [link]])
        return (ida, mo)
    }

    private func participants(_ mo: User) throws -> String {
        let answer = try mo.post(
            "private/records/lookup",
            ["zoneID": ["zoneName": "Notes"], "records": [["recordName": "Share-list"]]])
        let record = try #require((answer["records"] as? [[String: Any]])?.first)
        return "\(record["participants"] ?? "")"
    }

    private func poem(_ mo: User) throws -> [String: Any] {
        let answer = try mo.post(
            "public/records/lookup", ["records": [["recordName": "poem"]]])
        return try #require((answer["records"] as? [[String: Any]])?.first)
    }

    private func storedFiles() -> [String] {
        let found = FileManager.default.enumerator(atPath: folder.path("data"))
        return (found?.allObjects as? [String] ?? []).filter {
            $0.contains("/assets/") && ($0 as NSString).lastPathComponent.count == 64
        }
    }

    @Test("An export has the account, the records of every database and their files, and no secret")
    func export() throws {
        let (ida, _) = try story()
        let file = folder.path("ida.zip")
        let done = try server.command("user", "export", "ida@example.org", file, "--json")
        #expect(done.status == 0, "\(done.error)")
        let report = try #require(done.object["report"] as? [String: Any])
        #expect(report["assets"] as? Int == 1 && report["records"] as? Int ?? 0 >= 2)
        let unpacked = folder.path("ida")
        let unzip = ChildProcess()
        unzip.secondsMax = 60
        unzip.arguments = ["python3", "-m", "zipfile", "-e", file, unpacked]
        try unzip.run()
        unzip.waitUntilExit()
        #expect(unzip.terminationStatus == 0)
        func text(_ path: String) throws -> String {
            try String(contentsOfFile: "\(unpacked)/\(path)", encoding: .utf8)
        }
        let location = "\(Self.container)/development"
        #expect(try text("account.json").contains("ida@example.org"))
        #expect(try text("\(location)/private/Notes.json").contains("Secret of Ida"))
        let published = try text("\(location)/public.json")
        #expect(published.contains("A poem of Ida") && !published.contains("A reply of Mo"))
        #expect(try text("\(location)/shared.json").contains("Share-list"))
        let assets = try FileManager.default.contentsOfDirectory(
            atPath: "\(unpacked)/\(location)/assets")
        #expect(assets.count == 1)
        #expect(try text("\(location)/assets/\(assets[0])") == "the bytes of a file")
        for path in ["account.json", "\(location)/public.json", "\(location)/private/Notes.json"] {
            let contents = try text(path)
            #expect(
                (try? JSONSerialization.jsonObject(with: Data(contents.utf8))) != nil, "\(path)")
            #expect(!contents.contains(ida.query.suffix(40)) && !contents.contains("scrypt"))
        }
        let again = try server.command("user", "export", "ida@example.org", file)
        #expect(again.status == 1 && again.error.contains("exists already"))
        #expect(try server.command("user", "export", "no@example.org", file + "2").status == 1)
        #expect(!FileManager.default.fileExists(atPath: file + "2"))
        #expect(!FileManager.default.fileExists(atPath: file + "2.partial"))
        let audit = try server.command("audit", "list").output
        #expect(audit.contains("user export"))
    }

    @Test(
        "Who is erased leaves nothing private, takes part in nothing, and may be erased again",
        arguments: ["keep", "anonymous", "delete"])
    func erase(fate: String) throws {
        let (ida, mo) = try story()
        #expect(try participants(mo).contains(ida.name))
        #expect(storedFiles().count == 1)
        let erased = try server.command(
            "user", "erase", "ida@example.org", "--public", fate, "--yes", "--json")
        #expect(erased.status == 0, "\(erased.error)")
        let report = try #require(erased.object["report"] as? [String: Any])
        #expect(report["zones"] as? Int == 1 && report["shares"] as? Int == 1, "\(report)")
        #expect(report["records"] as? Int == 1, "\(report)")
        #expect(try !participants(mo).contains(ida.name))
        let poem = try poem(mo)
        let created = (poem["created"] as? [String: Any])?["userRecordName"] as? String
        switch fate {
        case "keep": #expect(created == ida.name)
        case "anonymous": #expect(created == "_anonymous")
        default:
            #expect(poem["serverErrorCode"] as? String == "NOT_FOUND")
            #expect(report["publicRecords"] as? Int == 1)
        }
        // The receipt of the upload has ended with its maker: only a record keeps the file.
        #expect(storedFiles().count == (fate == "delete" ? 0 : 1))
        let refused = try server.request(
            "/database/1/\(Self.container)/development/private/zones/list\(ida.query)")
        #expect(refused.status == 421)
        let again = try server.command(
            "user", "erase", "ida@example.org", "--public", fate, "--yes", "--json")
        #expect(again.status == 0 && again.object["found"] as? Bool == false)
        #expect(try server.command("check").status == 0)
        #expect(try server.command("audit", "list").output.contains("user erase"))
        // The bytes are gone from the files, too.
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let store = folder.path(
            "data/containers/\(Self.container.lowercased())/development/store.sqlite")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        #expect(bytes.range(of: Data("A reply of Mo".utf8)) != nil)
        #expect(bytes.range(of: Data("Secret of Ida".utf8)) == nil)
    }

    @Test("Without --yes nobody is erased, nor by a word that is none")
    func refused() throws {
        #expect(try server.command("user", "create", "ida@example.org").status == 0)
        #expect(try server.command("user", "erase", "ida@example.org").status != 0)
        #expect(
            try server.command(
                "user", "erase", "ida@example.org", "--public", "some", "--yes"
            ).status == 2)
        #expect(try server.command("user", "list").output.contains("ida@example.org"))
    }
}
