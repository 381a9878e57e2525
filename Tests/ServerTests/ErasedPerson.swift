import Foundation
import Testing

/// Somebody who leaves marks wherever a server keeps something of people, and others beside them.
struct ErasedPerson {
    static let container = "iCloud.org.example.Notes"
    /// In all that is theirs, and nowhere else; in the form in which words are found.
    static let mark = "qzxvanish"
    static let email = "\(mark)@example.org"

    let folder: TemporaryFolder
    let server: ServerProcess
    private let api: String

    init(_ environment: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        server = try ServerProcess(data: folder.path("data"), environment: environment)
        #expect(try server.command("container", "create", Self.container).status == 0)
        let made = try server.command(
            "api-token", "create", Self.container, "development", "--json")
        api = try #require(made.object["apiToken"] as? String)
    }

    var data: String { server.data }

    /// Sends requests of a person who is made by it.
    func person(_ email: String, _ name: String) throws -> (String, Any) throws -> [String: Any] {
        #expect(
            try server.command("user", "create", email, "--given-name", name).status == 0)
        let made = try server.command(
            "web-token", "create", Self.container, "development", email, "--json"
        ).object
        let token = try #require(made["webAuthToken"] as? String)
        let query = "?ckAPIToken=\(api)&ckWebAuthToken=\(token)"
        let body = folder.path("body-\(name)")
        return { endpoint, object in
            try JSONSerialization.data(withJSONObject: object).write(to: URL(filePath: body))
            let path = "/database/1/\(Self.container)/development/\(endpoint)\(query)"
            let answer = try server.request(path, ["--data-binary", "@\(body)"])
            #expect(answer.status == 200, "\(answer.text.prefix(500))")
            let answered = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
            return answered as? [String: Any] ?? [:]
        }
    }

    /// Saves records by one request, and expects no error.
    func save(
        _ records: [[String: Any]], in zone: String?,
        kind: String = "forceReplace", by post: (String, Any) throws -> [String: Any]
    ) throws -> [[String: Any]] {
        var body: [String: Any] = [
            "operations": records.map { ["operationType": kind, "record": $0] }
        ]
        if let zone { body["zoneID"] = ["zoneName": zone] }
        let answer = try post("\(zone == nil ? "public" : "private")/records/modify", body)
        let saved = answer["records"] as? [[String: Any]] ?? []
        #expect(saved.count == records.count, "\(answer)")
        for item in saved { #expect(item["serverErrorCode"] == nil, "\(item)") }
        return saved
    }

    func upload(
        _ text: String, by post: (String, Any) throws -> [String: Any]
    ) throws -> [String:
        Any]
    {
        let answer = try post(
            "private/assets/upload",
            ["tokens": [["recordType": "Note", "fieldName": "file"]]])
        let url = (answer["tokens"] as? [[String: Any]])?.first?["url"] as? String ?? ""
        let start = try #require(url.range(of: "/assets/")?.lowerBound)
        let sent = try server.request(String(url[start...]), ["--data-raw", text])
        let object = try JSONSerialization.jsonObject(with: Data(sent.body.utf8))
        return (object as? [String: Any])?["singleFile"] as? [String: Any] ?? [:]
    }

    /// Begins an upload that can be gone on with, and breaks it off.
    private func beginUpload(_ text: String, by post: (String, Any) throws -> [String: Any]) throws
    {
        let answer = try post(
            "private/assets/upload",
            ["tokens": [["recordType": "Note", "fieldName": "file"]]])
        let url = (answer["tokens"] as? [[String: Any]])?.first?["url"] as? String ?? ""
        let start = try #require(url.range(of: "/assets/")?.lowerBound)
        let begun = try server.request(
            String(url[start...]),
            [
                "-H", "Tus-Resumable: 1.0.0", "-H", "Upload-Length: 1000", "-H",
                "Content-Type: application/offset+octet-stream", "--data-raw", text,
            ])
        #expect(begun.status == 201, "\(begun)")
    }

    private func fields(_ number: Int, _ word: String) -> [String: Any] {
        let text = "\(word) writes of thing\(number) and \(word)\(number)"
        return [
            "text": ["value": text + String(repeating: " more", count: number % 700)],
            "list": ["value": ["\(word)-a\(number)", "\(word)-b\(number % 7)"]],
            "number": ["value": number],
        ]
    }

    private func record(_ number: Int, _ word: String, _ more: [String: Any] = [:]) -> [String: Any]
    {
        ["recordName": "\(word)-r\(number)", "recordType": "Note", "fields": fields(number, word)]
            .merging(more) { $1 }
    }

    /// Has the indexes made that searches, filters and orders need.
    private func ask(_ zone: String, by post: (String, Any) throws -> [String: Any]) throws {
        let filters: [[String: Any]] = [
            [
                "fieldName": "text", "comparator": "CONTAINS_ALL_TOKENS",
                "fieldValue": ["value": "writes"],
            ],
            ["fieldName": "list", "comparator": "LIST_CONTAINS", "fieldValue": ["value": "x"]],
            ["fieldName": "text", "comparator": "BEGINS_WITH", "fieldValue": ["value": "x"]],
        ]
        for filter in filters {
            let answer = try post(
                "private/records/query",
                [
                    "zoneID": ["zoneName": zone], "resultsLimit": 1,
                    "query": ["recordType": "Note", "filterBy": [filter]] as [String: Any],
                ])
            #expect(answer["serverErrorCode"] == nil, "\(answer)")
        }
    }

    /// The person and Mo write, change, share and subscribe; Mo's own stay.
    func live(records: Int) throws {
        let mo = try person("mo@example.org", "Mo")
        let they = try person(Self.email, "Q\(Self.mark.dropFirst())")
        let zone = "\(Self.mark)-zone"
        for (post, name) in [(they, zone), (they, "\(Self.mark)-gone"), (mo, "Notes")] {
            _ = try post(
                "private/zones/modify",
                [
                    "operations": [
                        ["operationType": "create", "zone": ["zoneID": ["zoneName": name]]]
                    ]
                ])
        }
        _ = try save([record(0, "keepsake")], in: "Notes", by: mo)
        try ask(zone, by: they)
        // In turns, so that both stand on the same pages.
        for first in stride(from: 0, to: records, by: 20) {
            let numbers = first..<first + 20
            _ = try save(numbers.map { record($0, Self.mark) }, in: zone, by: they)
            _ = try save(numbers.map { record($0, "keepsake") }, in: "Notes", by: mo)
        }
        try leaveTraces(records, in: zone, by: they)
        try share(zone, by: they, with: mo)
        _ = try they(
            "private/subscriptions/modify",
            [
                "operations": [
                    [
                        "operationType": "create",
                        "subscription": [
                            "subscriptionID": "\(Self.mark)-subscription",
                            "subscriptionType": "zone", "zoneID": ["zoneName": zone],
                            "notificationInfo": ["alertBody": "\(Self.mark) is told"],
                        ],
                    ]
                ]
            ])
        _ = try save([record(2, Self.mark)], in: zone, by: they)
    }

    /// What is in nobody's sight any more, files, and public records.
    private func leaveTraces(
        _ records: Int, in zone: String, by they: (String, Any) throws -> [String: Any]
    ) throws {
        // Former versions, deleted records and a deleted zone have left free pages.
        let again = stride(from: 0, to: records, by: 3).map { record($0, Self.mark) }
        _ = try save(Array(again.prefix(200)), in: zone, by: they)
        _ = try save(
            (records / 2..<records / 2 + 20).map { ["recordName": "\(Self.mark)-r\($0)"] },
            in: zone, kind: "forceDelete", by: they)
        _ = try save([record(1, Self.mark)], in: "\(Self.mark)-gone", by: they)
        _ = try they(
            "private/zones/modify",
            [
                "operations": [
                    [
                        "operationType": "delete",
                        "zone": ["zoneID": ["zoneName": "\(Self.mark)-gone"]],
                    ]
                ]
            ])
        let held = try upload("\(Self.mark) in a file", by: they)
        // Nobody makes a value of this one: its receipt alone keeps it.
        _ = try upload("\(Self.mark) in another file", by: they)
        try beginUpload("\(Self.mark) in half a file", by: they)
        _ = try save(
            [
                [
                    "recordName": "\(Self.mark)-file", "recordType": "Note",
                    "fields": ["file": ["value": held]],
                ]
            ], in: zone, by: they)
        _ = try save(
            (0..<20).map {
                [
                    "recordName": "poem\($0)", "recordType": "Note",
                    "fields": ["text": ["value": "\(Self.mark) public \($0)"]],
                ]
            }, in: nil, by: they)
    }

    private func share(
        _ zone: String, by they: (String, Any) throws -> [String: Any],
        with mo: (String, Any) throws -> [String: Any]
    ) throws {
        let made = try save(
            [
                record(9_000_003, Self.mark, ["createShortGUID": true]),
                [
                    "recordName": "\(Self.mark)-share", "recordType": "cloudkit.share",
                    "fields": ["cloudkit.title": ["value": "\(Self.mark) shared"]],
                    "forRecord": ["recordName": "\(Self.mark)-r9000003"],
                    "publicPermission": "READ_WRITE",
                ],
            ], in: zone, kind: "create", by: they)
        let link = ["value": try #require(made[0]["shortGUID"] as? String)]
        _ = try mo("public/records/accept", ["shortGUIDs": [link]])
    }

    /// The files below a folder that hold a mark, with how many there are.
    static func marks(in folder: String) throws -> [String: Int] {
        let marks = [
            Data(mark.utf8), Data("Q\(mark.dropFirst())".utf8), Data(mark.uppercased().utf8),
        ]
        var found: [String: Int] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            // NB: folders and sockets have no contents.
            guard let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)") else {
                continue
            }
            var count = marks.count { name.range(of: String(decoding: $0, as: UTF8.self)) != nil }
            for mark in marks {
                var rest = bytes.startIndex..<bytes.endIndex
                while let next = bytes.range(of: mark, in: rest) {
                    count += 1
                    rest = next.upperBound..<bytes.endIndex
                }
            }
            if count > 0 { found[name] = count }
        }
        return found
    }
}
