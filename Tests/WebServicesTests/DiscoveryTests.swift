import Accounts
import CloudModel
import Storage
import Testing

/// Who finds whom (web-services.md §4.12, rulings.md 40).
@Suite("Looking users up")
struct DiscoveryTests {
    let server: WireServer
    let ida: WireClient
    let mo: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
        mo = try server.user("mo")
    }

    private func show(_ client: WireClient, _ isShown: Bool = true) throws {
        let account = try Users(catalog: server.catalog).find(email: client.email)
        try server.catalog.change(account.id, by: AccountChange(isDiscoverable: isShown))
    }

    private func discover(_ infos: String, by client: WireClient? = nil) throws -> Answer {
        try (client ?? ida).send("public/users/discover", "{\"lookupInfos\":[\(infos)]}")
    }

    @Test("Somebody who lets themselves be found is found by address, number and record name")
    func found() throws {
        try show(mo)
        _ = try Users(catalog: server.catalog).verify(
            email: mo.email, address: "+1 555 0100199", now: 1)
        let answer = try discover(
            "{\"emailAddress\":\"MO@Example.org\"},{\"phoneNumber\":\"+15550100199\"},"
                + "{\"userRecordName\":\"\(mo.name)\"}")
        #expect(answer.status == 200)
        let users = answer["users"].elements
        #expect(users.count == 3)
        for (user, info) in zip(
            users,
            [
                #"{"emailAddress":"MO@Example.org"}"#, #"{"phoneNumber":"+15550100199"}"#,
                "{\"userRecordName\":\"\(mo.name)\"}",
            ])
        {
            #expect(
                user.raw == "{\"userRecordName\":\"\(mo.name)\",\"nameComponents\":"
                    + "{\"givenName\":\"Mo\",\"familyName\":\"Roe\"},\"lookupInfo\":\(info)}")
        }
    }

    @Test("A user looks up so many addresses in a day; another user, and the next day, begin anew")
    func budget() throws {
        let server = try WireServer { $0.discoveriesPerDayMax = 10 }
        let (ida, mo) = (try server.user(), try server.user("mo"))
        func look(_ count: Int, by client: WireClient) throws -> Answer {
            let infos = (0..<count).map { "{\"emailAddress\":\"a\($0)@example.org\"}" }
            return try discover(infos.joined(separator: ","), by: client)
        }
        #expect(try look(6, by: ida).status == 200)
        // Too many at once tell nothing, and cost nothing.
        let refused = try look(5, by: ida)
        #expect(refused.status == 429)
        #expect(refused.json["reason"].string?.contains("limits.discoveriesPerDayMax") == true)
        #expect(refused.header("retry-after").flatMap { Int($0) } ?? 0 > 0)
        #expect(try look(3, by: ida).status == 200)
        let byPhone = try discover("{\"phoneNumber\":\"+15550100199\"}", by: ida)
        #expect(byPhone.status == 200)
        let older = try ida.send(
            "public/users/lookup/email", "{\"users\":[{\"emailAddress\":\"a@example.org\"}]}")
        #expect(older.status == 429)
        // Names of records tell nobody's address.
        #expect(try discover("{\"userRecordName\":\"\(mo.name)\"}", by: ida).status == 200)
        #expect(try look(10, by: mo).status == 200)
        server.clock.advance(86_400_000)
        #expect(try look(10, by: ida).status == 200)
    }

    @Test("Of two processes each lets a user look up half of a day's addresses")
    func processes() throws {
        let server = try WireServer(processCount: 2) { $0.discoveriesPerDayMax = 5 }
        let ida = try server.user()
        let info = "{\"emailAddress\":\"a@example.org\"}"
        let answers = try (0..<3).map { _ in try discover(info, by: ida).status }
        #expect(answers == [200, 200, 429])
    }

    @Test("Hidden and unknown people are answered alike: as they were asked for, in order")
    func hidden() throws {
        let infos =
            "{\"emailAddress\":\"mo@example.org\"},{\"emailAddress\":\"no@example.org\"},"
            + "{\"emailAddress\":\"nonsense\"},{\"userRecordName\":\"\(mo.name)\"},"
            + "{\"userRecordName\":\"_00000000000000000000000000000000\"},{\"phoneNumber\":\"x\"}"
        let expected = infos.split(separator: "},").map {
            "{\"lookupInfo\":" + ($0.hasSuffix("}") ? $0 : $0 + "}") + "}"
        }
        #expect(try discover(infos).text == "{\"users\":[\(expected.joined(separator: ","))]}")
        // Found once, then hidden again.
        try show(mo)
        try show(mo, false)
        #expect(try discover(infos)["users"].elements.map(\.raw) == expected)
    }

    @Test("Nobody is found by an unverified address, nor in a container that they never used")
    func notHere() throws {
        _ = try Users(catalog: server.catalog).create(
            email: "lu@example.org", phone: "+15550100111", now: 1)
        let lu = try Users(catalog: server.catalog).find(email: "lu@example.org")
        try server.catalog.change(lu.id, by: AccountChange(isDiscoverable: true))
        let infos = #"{"phoneNumber":"+15550100111"},{"emailAddress":"lu@example.org"}"#
        #expect(
            try discover(infos)["users"].elements.allSatisfy { !$0["userRecordName"].exists })
        _ = try server.user("lu")
        let users = try discover(infos)["users"].elements
        #expect(users.map { $0["userRecordName"].exists } == [false, true])
        let mate = try server.user("mate", WireServer.mate)
        try show(mo)
        #expect(
            try mate.send(
                "public/users/lookup/id", "{\"users\":[{\"userRecordName\":\"\(mo.name)\"}]}")[
                    "users"][0].code == "NOT_FOUND")
    }

    @Test("The older forms answer with users, and item errors for whom they do not find")
    func lookup() throws {
        try show(mo)
        let byEmail = try ida.send(
            "public/users/lookup/email",
            #"{"users":[{"emailAddress":"mo@example.org"},{"emailAddress":"no@example.org"}]}"#)
        #expect(
            byEmail.text == "{\"users\":[{\"userRecordName\":\"\(mo.name)\",\"firstName\":\"Mo\","
                + "\"lastName\":\"Roe\",\"emailAddress\":\"mo@example.org\"},"
                + "{\"emailAddress\":\"no@example.org\",\"reason\":\"no user to be found\","
                + "\"serverErrorCode\":\"NOT_FOUND\"}]}")
        let unknown = "_00000000000000000000000000000000"
        let byID = try mo.send(
            "public/users/lookup/id",
            "{\"users\":[{\"userRecordName\":\"\(mo.name)\"},{\"userRecordName\":\"\(ida.name)\"},"
                + "{\"userRecordName\":\"\(unknown)\"}]}")
        let users = byID["users"].elements
        #expect(
            users.first?.raw == "{\"userRecordName\":\"\(mo.name)\",\"firstName\":\"Mo\","
                + "\"lastName\":\"Roe\"}")
        let hidden = users.dropFirst().map { $0.raw.replacing(ida.name, with: unknown) }
        #expect(hidden.count == 2 && Set(hidden).count == 1)
        // Everybody finds themselves.
        #expect(
            try ida.send(
                "public/users/lookup/id", "{\"users\":[{\"userRecordName\":\"\(ida.name)\"}]}")[
                    "users"][0]["firstName"].string == "Ida")
    }

    @Test("The server has nobody's address book")
    func contacts() throws {
        try show(mo)
        for answer in [
            try ida.send("public/users/discover", nil), try ida.send("public/users/discover", ""),
            try ida.send("public/users/discover", "{}"),
            try ida.send("public/users/lookup/contacts", nil),
            try ida.send("public/users/lookup/contacts", "{}"),
        ] {
            #expect(answer.status == 200 && answer.text == #"{"users":[]}"#)
        }
    }

    @Test("Only users look others up, in the public database")
    func refusals() throws {
        let paths = [
            "users/discover", "users/lookup/email", "users/lookup/id", "users/lookup/contacts",
        ]
        for path in paths {
            for database in ["private", "shared"] {
                let answer = try ida.send("\(database)/\(path)", "{}")
                #expect(answer.status == 400 && answer.code == "BAD_REQUEST")
                #expect(
                    answer.reason
                        == "endpoint not applicable in the database type '\(database)db'")
            }
            #expect(try server.visitor().send("public/\(path)", "{}").status == 421)
            #expect(try server.key(scope: .container).send("public/\(path)", "{}").status == 401)
        }
        for body in [#"{"lookupInfos":[{}]}"#, #"{"lookupInfos":[7]}"#, #"{"lookupInfos":{}}"#] {
            #expect(try ida.send("public/users/discover", body).status == 400, "\(body)")
        }
        for body in ["{}", #"{"users":[{}]}"#, #"{"users":[{"emailAddress":7}]}"#] {
            #expect(try ida.send("public/users/lookup/email", body).status == 400, "\(body)")
        }
        let many = [String](repeating: #"{"emailAddress":"a@b.c"}"#, count: 201)
        #expect(try discover(many.joined(separator: ",")).status == 400)
        #expect(
            try discover(many.dropLast().joined(separator: ","))["users"].elements.count == 200)
    }

    @Test("The record of type Users is there in the public and in the private database")
    func userRecords() throws {
        for database in ["public", "private"] {
            let record = try ida.record(ida.name, zone: nil, in: database)
            #expect(record["recordType"].string == "Users", "\(database): \(record.raw)")
        }
        #expect(try mo.record(ida.name, zone: nil, in: "public").name == ida.name)
        #expect(try mo.record(ida.name, zone: nil, in: "private").code == "NOT_FOUND")
    }
}
