import Foundation
import Testing

@testable import Server

@Suite("Roles of users by command")
struct CommandRoleTests {
    private let folder: TemporaryFolder
    private let data: String
    private let location = ["iCloud.a", "development"]

    init() throws {
        folder = try TemporaryFolder()
        data = folder.path("data")
        try ServerProcess.makeData(data)
        for words in [
            ["container", "create", "iCloud.a"], ["user", "create", "ann@a.example"],
            ["user", "create", "bob@a.example"],
        ] {
            try #require(try run(words).status == 0)
        }
    }

    private func run(_ words: [String]) throws -> Program.Outcome {
        try Program.run(words + ["--data", data])
    }

    private func role(
        _ verb: String, _ role: String, of email: String = "ann@a.example"
    ) throws -> Program.Outcome {
        try run(["user", "role", verb, email] + location + [role, "--json"])
    }

    /// Makes development's schema a type and a role, to which something of it is granted.
    private func importSchema(_ role: String, _ rights: String = "READ") throws {
        let file = folder.path("schema")
        try """
        DEFINE SCHEMA CREATE ROLE \(role);
        RECORD TYPE Bed ( "___recordID" REFERENCE QUERYABLE, GRANT \(rights) TO \(role) );
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let imported = try run(["schema", "import", "iCloud.a", file])
        #expect(imported.status == 0, "\(imported.error)")
    }

    @Test("A role is given and taken while the server runs, and holds from the next request on")
    func whileServing() throws {
        try importSchema("Gardener")
        let server = try ServerProcess(data: data)
        let api = try #require(
            try run(["api-token", "create"] + location + ["--name", "t", "--json"])
                .object["apiToken"] as? String)
        let web = try #require(
            try run(["web-token", "create"] + location + ["ann@a.example", "--json"])
                .object["webAuthToken"] as? String)
        let base = "/database/1/iCloud.a/development/public"
        let credentials = "?ckAPIToken=\(api)&ckWebAuthToken=\(web)"
        func query() throws -> Int {
            try server.request(
                "\(base)/records/query\(credentials)",
                ["-d", #"{"query":{"recordType":"Bed"}}"#]
            ).status
        }
        #expect(try query() == 403)
        let given = try role("add", "Gardener")
        #expect(given.status == 0)
        let user = try #require(given.object["userRecordName"] as? String)
        #expect(given.object["email"] as? String == "ann@a.example")
        #expect(given.object["accountID"] is String && given.object["changed"] as? Bool == true)
        #expect(try query() == 200)
        #expect(try role("add", "Gardener").object["changed"] as? Bool == false)
        // What the role is granted may change too, under the running server.
        try importSchema("Gardener", "WRITE")
        #expect(try query() == 403)
        try importSchema("Gardener")
        #expect(try query() == 200)
        // The API shows nobody else that there are roles.
        func record() throws -> String {
            try server.request(
                "\(base)/records/lookup?ckAPIToken=\(api)",
                ["-d", "{\"records\":[{\"recordName\":\"\(user)\"}]}"]
            ).body
        }
        #expect(try record().contains(#""fields":{}"#))
        #expect(try role("remove", "Gardener").object["changed"] as? Bool == true)
        #expect(try query() == 403)
        #expect(try role("remove", "Gardener").object["changed"] as? Bool == false)
        // With the account goes its record.
        #expect(try role("add", "Gardener").status == 0)
        #expect(try run(["user", "delete", "ann@a.example", "--yes"]).status == 0)
        #expect(try record().contains("NOT_FOUND"))
        #expect(try run(["check"]).status == 0)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
    }

    @Test("Roles outlast the server, for users too who have never been there")
    func withoutServer() throws {
        try importSchema("Gardener")
        #expect(try role("add", "Gardener", of: "bob@a.example").status == 0)
        #expect(
            try role("add", "Gardener", of: "bob@a.example").object["changed"] as? Bool == false)
        #expect(try run(["user", "delete", "bob@a.example", "--yes"]).status == 0)
        #expect(try run(["user", "create", "bob@a.example"]).status == 0)
        // He is somebody else now.
        #expect(
            try role("add", "Gardener", of: "bob@a.example").object["changed"] as? Bool == true)
        #expect(try run(["check"]).status == 0)
    }

    @Test("What is not there is refused by its name")
    func refusals() throws {
        try importSchema("Gardener")
        for (words, expected) in [
            (["ann@a.example"] + location + ["Mason"], "no role 'Mason'; it has Gardener"),
            (["ann@a.example"] + location + ["_icloud"], "_icloud is built in"),
            (["ann@a.example"] + location + ["no role"], "no role 'no role'"),
            (["ann@a.example", "iCloud.a", "production", "Gardener"], "it has none"),
            (["ann@a.example", "iCloud.a", "staging", "Gardener"], "development or production"),
            (["zoe@a.example"] + location + ["Gardener"], "user"),
            (["ann@a.example", "iCloud.b", "development", "Gardener"], "container"),
        ] {
            for verb in ["add", "remove"] {
                let outcome = try run(["user", "role", verb] + words)
                // No environment has that name: the words of the command are wrong.
                #expect(outcome.status == (words.contains("staging") ? 2 : 1), "\(words)")
                #expect(outcome.error.contains(expected), "\(words): \(outcome.error)")
                #expect(outcome.error.split(separator: "\n").count == 1)
            }
        }
        #expect(try run(["user", "role", "add", "ann@a.example"]).status == 2)
        #expect(try run(["user", "role", "give"]).status == 2)
        let help = try run(["user", "role", "--help"])
        #expect(help.output.contains("user role add EMAIL CONTAINER ENVIRONMENT ROLE"))
        #expect(help.output.contains("user role remove EMAIL CONTAINER ENVIRONMENT ROLE"))
    }
}
