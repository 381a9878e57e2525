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
        let location = ["iCloud.a", "development"]
        server = try ServerProcess(data: data)
        for words in [["container", "create", "iCloud.a"], ["user", "create", "ann@a.example"]] {
            try #require(try Program.run(words + ["--data", data]).status == 0)
        }
        let api = try #require(
            try Program.run(
                ["api-token", "create"] + location + ["--name", "t", "--json", "--data", data]
            )
            .object["apiToken"] as? String)
        let web = try #require(
            try Program.run(
                ["web-token", "create"] + location + ["ann@a.example", "--json", "--data", data]
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
        let refused = try (misplaced() + mistyped() + filters() + [oversized()]).map { answer in
            #expect(answer.body.contains("serverErrorCode"), "\(answer.body)")
            // A conflict shows its owner the record, which is no reason.
            let end = answer.body.range(of: ",\"serverRecord\"")?.lowerBound
            return String(answer.body[..<(end ?? answer.body.endIndex)])
        }
        #expect(try server.command("check").status == 0)
        let metrics = try server.metrics()
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

    private typealias Refused = (status: Int, body: String)

    /// In public, in other types' fields, under an old tag, and in places that are none.
    private func misplaced() throws -> [Refused] {
        try whole.flatMap { fields in
            [
                try modify(fields, in: "public"), try modify(fields, type: "Other", name: "d1"),
                try modify(fields, kind: "create"), try modify(fields, kind: "update"),
                try modify(fields.replacing("}", with: "")),
                try send("private/records/modify", "{\"operations\":[{\(fields)}]}"),
                try send("private/records/modify", "{\"operations\":{\(fields)}}"),
                try send("private/records/modify", "{\(fields),\(fields)}"),
            ]
        }
    }

    /// Without the flag, without the type, under another type, as lists of themselves.
    private func mistyped() throws -> [Refused] {
        let type = try Regex(",\"type\":\"[A-Z0-9_]+\"")
        return try whole.flatMap { fields in
            [
                fields.replacing(",\"isEncrypted\":true", with: ""),
                fields.replacing(type, with: ""),
                fields.replacing("\"type\":\"", with: "\"type\":\"NO_"),
                fields.replacing(type, with: ",\"type\":\"REFERENCE\""),
                fields.replacing("\"value\":", with: "\"value\":[")
                    .replacing(",\"type\"", with: "],\"type\""),
            ]
        }.map { try modify($0) }
    }

    private func filters() throws -> [Refused] {
        try whole.flatMap { fields in
            let name = fields.split(separator: "\"")[0]
            let value = fields.split(separator: ":", maxSplits: 1)[1]
            return try ["EQUALS", "BEGINS_WITH", "IN", "NEAR", "CONTAINS_ALL_TOKENS"].map {
                try send(
                    "private/records/query",
                    """
                    {"query":{"recordType":"Diary","filterBy":[{"fieldName":"\(name)",\
                    "comparator":"\($0)","distance":1,"fieldValue":\(value)}]}}
                    """)
            }
        }
    }

    private func oversized() throws -> Refused {
        let large = String(repeating: secrets["text"] ?? "", count: 80_000)
        return try modify(field("text", "\"\(large)\"", "STRING"))
    }
}
