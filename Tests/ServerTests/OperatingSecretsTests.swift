import Foundation
import Testing

@testable import Server

/// What is in encrypted fields stays in the records.
@Suite("Values of encrypted fields")
struct OperatingSecretsTests {
    private let folder: TemporaryFolder
    private let server: ServerProcess
    private let query: String

    /// Different enough that none of it can be in an answer or a line by chance.
    private let secrets = [
        "text": "kaPut-zw1eback", "bytes": "c3dlZXQgcG90YXRvZXM=", "int": "8091726354718293",
        "double": "8253.190463725", "latitude": "57.19283746", "time": "1689347261905",
    ]

    init() throws {
        folder = try TemporaryFolder()
        let data = folder.path("data")
        let place = ["iCloud.a", "development"]
        server = try ServerProcess(data: data)
        for words in [["container", "create", "iCloud.a"], ["user", "create", "ann@a.example"]] {
            try #require(try Program.run(words + ["--data", data]).status == 0)
        }
        let api = try #require(
            try Program.run(
                ["api-token", "create"] + place + ["--name", "t", "--json", "--data", data]
            )
            .object["apiToken"] as? String)
        let web = try #require(
            try Program.run(
                ["web-token", "create"] + place + ["ann@a.example", "--json", "--data", data]
            ).object["webAuthToken"] as? String)
        query = "?ckAPIToken=\(api)&ckWebAuthToken=\(web)"
    }

    private func send(_ path: String, _ body: String) throws -> (status: Int, body: String) {
        let file = folder.path("body")
        try body.write(toFile: file, atomically: true, encoding: .utf8)
        let answer = try server.request(
            "/database/1/iCloud.a/development/\(path)\(query)", ["--data-binary", "@\(file)"])
        return (answer.status, answer.body)
    }

    private func modify(
        _ fields: String, kind: String = "forceUpdate", type: String = "Diary",
        name: String = "d1", in database: String = "private"
    ) throws -> (status: Int, body: String) {
        try send(
            "\(database)/records/modify",
            """
            {"operations":[{"operationType":"\(kind)","record":{"recordName":"\(name)",\
            "recordType":"\(type)","fields":{\(fields)}}}]}
            """)
    }

    private func field(
        _ name: String, _ value: String, _ type: String, _ more: String = ""
    ) -> String {
        "\"\(name)\":{\"value\":\(value),\"type\":\"\(type)\",\"isEncrypted\":true\(more)}"
    }

    /// The fields with every secret in them.
    private var whole: [String] {
        func secret(_ name: String) -> String { secrets[name] ?? "" }
        return [
            field("text", "\"\(secret("text"))\"", "STRING"),
            field("bytes", "\"\(secret("bytes"))\"", "BYTES"),
            field("int", secret("int"), "INT64"), field("double", secret("double"), "DOUBLE"),
            field("place", "{\"latitude\":\(secret("latitude")),\"longitude\":1.5}", "LOCATION"),
            field("time", secret("time"), "TIMESTAMP"),
            field("texts", "[\"\(secret("text"))\"]", "STRING_LIST"),
        ]
    }

    @Test("They are in no line of the log, in no metric and in no reason")
    func nowhere() throws {
        let saved = try modify(whole.joined(separator: ","))
        for (name, secret) in secrets { #expect(saved.body.contains(secret), "\(name)") }
        var refused: [String] = []
        func note(_ answer: (status: Int, body: String)) {
            // A conflict shows its owner the record, which is no reason.
            let text =
                answer.body.range(of: ",\"serverRecord\"").map {
                    String(answer.body[..<$0.lowerBound])
                }
                ?? answer.body
            #expect(answer.body.contains("serverErrorCode"), "\(answer.body)")
            refused.append(text)
        }
        // In fields of other types, without the flag or the type, in public, in places that are none.
        let plain = whole.map { $0.replacing(",\"isEncrypted\":true", with: "") }
        let untyped = try whole.map {
            try $0.replacing(Regex(",\"type\":\"[A-Z0-9_]+\""), with: "")
        }
        for fields in plain + untyped + whole.map({ $0.replacing("STRING", with: "INT64") })
            + whole.map({
                $0.replacing("\"value\":", with: "\"value\":[").replacing(
                    ",\"type\"", with: "],\"type\"")
            })
        where !whole.contains(fields) {
            note(try modify(fields))
        }
        for fields in whole {
            note(try modify(fields, in: "public"))
            note(try modify(fields.replacing("\"type\":\"", with: "\"type\":\"NO_")))
            note(try modify(fields, kind: "create"))
            note(try modify(fields, kind: "update"))
            note(try modify(fields, type: "Other"))
            note(try modify(fields.replacing("}", with: "")))
            note(try send("private/records/modify", "{\"operations\":[{\(fields)}]}"))
            note(try send("private/records/modify", "{\"operations\":{\(fields)}}"))
            note(try send("private/records/modify", "{\(fields),\(fields)}"))
            for comparator in ["EQUALS", "BEGINS_WITH", "IN", "NEAR", "CONTAINS_ALL_TOKENS"] {
                let value = fields.split(separator: ":", maxSplits: 1)[1]
                let name = fields.split(separator: "\"")[0]
                note(
                    try send(
                        "private/records/query",
                        """
                        {"query":{"recordType":"Diary","filterBy":[{"fieldName":"\(name)",\
                        "comparator":"\(comparator)","distance":1,"fieldValue":\(value)}]}}
                        """))
            }
        }
        let large = String(repeating: secrets["text"] ?? "", count: 80_000)
        note(try modify(field("text", "\"\(large)\"", "STRING")))
        #expect(try server.command("check").status == 0)
        let metrics = try server.request("/metrics").body
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let log = server.log()
        #expect(log.filter { $0.contains("records/modify") }.count > 50)
        for (name, secret) in secrets {
            #expect(!refused.contains { $0.contains(secret) }, "\(name)")
            #expect(!log.contains { $0.contains(secret) }, "\(name)")
            #expect(!metrics.contains(secret), "\(name)")
        }
    }
}
