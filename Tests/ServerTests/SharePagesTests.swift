import CloudModel
import Foundation
import SQLite
import Testing

/// `/share/…` on a server that runs, over its stores.
@Suite("Links to shares, opened in a browser")
struct SharePagesTests {
    private let folder: TemporaryFolder
    private let cheap = ["LENTICULAR_ACCOUNTS_PASSWORD_COST_BITS": "10"]

    init() throws { folder = try TemporaryFolder() }

    /// Somebody with an account, a browser made of curl, and a web token for one app.
    private struct Person: CurlBrowser {
        let server: ServerProcess
        let email: String
        let jar: String
        let query: String
        let container: String

        init(_ server: ServerProcess, _ name: String, in folder: TemporaryFolder, _ app: App) throws
        {
            self.server = server
            email = "\(name)@example.org"
            jar = folder.path(name)
            container = app.container
            _ = try server.command(
                "user", "create", email, "--given-name", name.capitalized, "--password-stdin",
                input: "correct horse\n")
            let made = try server.command(
                "web-token", "create", app.container, "development", email, "--json")
            let token = try #require(made.object["webAuthToken"] as? String)
            query = "?ckAPIToken=\(app.apiToken)&ckWebAuthToken=\(token)"
        }

        /// Sends a request of the protocol.
        func post(_ path: String, _ body: String) throws -> [String: Any] {
            let answer = try server.request(
                "/database/1/\(container)/development/\(path)\(query)", ["--data", body])
            let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
            return try #require(object as? [String: Any], "\(answer.text)")
        }

        func signIn(_ path: String) throws {
            let done = try send(
                path, ["step": "sign-in", "address": email, "password": "correct horse"])
            #expect(done.status == 303)
        }

        /// Shares a note.
        ///
        /// - Returns: the share record.
        func share(_ members: String) throws -> [String: Any] {
            _ = try post(
                "private/zones/modify",
                "{\"operations\":[{\"operationType\":\"create\",\"zone\":{\"zoneID\":{\"zoneName\":\"Z\"}}}]}"
            )
            let answer = try post(
                "private/records/modify",
                """
                {"zoneID":{"zoneName":"Z"},"operations":[{"operationType":"create","record":
                {"recordName":"note","recordType":"Note","fields":{}}},{"operationType":"create","record":
                {"recordName":"share","recordType":"cloudkit.share","fields":{"cloudkit.title":
                {"value":"Shopping"}},"forRecord":{"recordName":"note"},\(members)}}]}
                """)
            return try #require((answer["records"] as? [[String: Any]])?.last, "\(answer)")
        }

        /// The share record as its owner sees it.
        func shareRecord() throws -> [String: Any] {
            let answer = try post(
                "private/records/lookup",
                "{\"zoneID\":{\"zoneName\":\"Z\"},\"records\":[{\"recordName\":\"share\"}]}")
            return try #require((answer["records"] as? [[String: Any]])?.first)
        }
    }

    private struct App {
        let container: String
        let apiToken: String

        init(_ server: ServerProcess, _ container: String) throws {
            self.container = container
            _ = try server.command("container", "create", container)
            let made = try server.command(
                "api-token", "create", container, "development", "--json")
            apiToken = try #require(made.object["apiToken"] as? String)
        }
    }

    private func started(
        _ environment: [String: String] = [:]
    ) throws -> (ServerProcess, App) {
        let server = try ServerProcess(
            data: folder.path("data"), environment: cheap.merging(environment) { $1 })
        // Others, to which the link does not lead.
        for name in ["iCloud.a", "iCloud.b"] { _ = try App(server, name) }
        return (server, try App(server, "iCloud.org.example.Notes"))
    }

    @Test("Somebody invited by phone shows by a text message that the number is theirs, and joins")
    func phone() throws {
        let receiver = try PostReceiver(answering: "204 No Content")
        let (server, app) = try started([
            "LENTICULAR_TEXT_MESSAGES_SENDER": "webhook",
            "LENTICULAR_TEXT_MESSAGES_URL": "http://127.0.0.1:\(receiver.port)/",
            "LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.1",
        ])
        let (ida, mo) = (
            try Person(server, "ida", in: folder, app), try Person(server, "mo", in: folder, app)
        )
        let share = try ida.share(
            """
            "participants":[{"permission":"READ_ONLY","userIdentity":{"lookupInfo":\
            {"phoneNumber":"+49 171 234-5678"}}}]
            """)
        let path = "/share/\(try #require(share["shortGUID"] as? String))"
        try mo.signIn(path)
        #expect(try mo.get(path).status == 404)
        let number = "+49 (171) 2345678"
        #expect(try mo.send(path, ["do": "address", "address": number]).status == 200)
        let message = try receiver.next()
        let object = try JSONSerialization.jsonObject(with: message.body) as? [String: String]
        #expect(object?["to"] == "+491712345678")
        let text = try #require(object?["text"])
        let code = try #require(text.firstMatch(of: #/[0-9]{4} [0-9]{4}/#)).output
        let proved = try mo.send(path, ["do": "code", "address": number, "code": String(code)])
        #expect(proved.status == 303)
        #expect(try mo.send(path, ["do": "join"]).status == 303)
        let zones = try mo.post("shared/zones/list", "{}")
        #expect((zones["zones"] as? [Any])?.count == 1)
    }

    @Test("Somebody joins by a link, is sent on to the app's page, and has the records")
    func joining() throws {
        let (server, app) = try started()
        let (ida, mo) = (
            try Person(server, "ida", in: folder, app), try Person(server, "mo", in: folder, app)
        )
        let share = try ida.share("\"publicPermission\":\"READ_WRITE\"")
        let guid = try #require(share["shortGUID"] as? String)
        #expect(!guid.hasPrefix("0L0"))
        let path = "/share/\(guid)"
        let outside = try mo.get(path)
        #expect(outside.body.contains("Shopping") && !outside.body.contains("Ida"))
        try mo.signIn(path)
        #expect(try mo.get(path).body.contains("<strong>Ida</strong>"))
        for _ in 0..<3 { _ = try mo.get(path) }
        #expect((try ida.shareRecord()["participants"] as? [Any])?.count == 1)
        let joined = try mo.send(path, ["do": "join"])
        #expect(joined.status == 303 && joined.text.contains("Location: \(path)"))
        #expect(try mo.get(path).body.contains("iCloud.org.example.Notes"))
        let zones = try mo.post("shared/zones/list", "{}")
        #expect((zones["zones"] as? [Any])?.count == 1)
        _ = try server.command(
            "container", "set", app.container, "fallbackURL=https://notes.example/open/")
        #expect(try mo.get(path).body.contains("https://notes.example/open/\(guid)\""))
        // Left, and offered to come back.
        _ = try mo.post(
            "shared/records/modify",
            """
            {"zoneID":\(try zone(zones)),"operations":[{"operationType":"forceDelete","record":
            {"recordName":"share"}}]}
            """)
        #expect(try mo.get(path).body.contains("Join again"))
        #expect(
            try mo.send(path, ["do": "join"]).text
                .contains("Location: https://notes.example/open/\(guid)"))
        let usage = try ida.get("/account").status
        #expect(usage == 303)
        try ida.signIn(path)
        #expect(try ida.get(path).body.contains("You share this"))
        let kept = try ida.get("/account").body
        #expect(kept.contains("<strong>iCloud.org.example.Notes</strong> (development)"))
        #expect(kept.contains("2 records"))
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        #expect(!server.log().joined(separator: "\n").contains(guid))
    }

    @Test("What is shared stands on the account pages of both, by the app's name and picture")
    func accountPages() throws {
        let (server, app) = try started()
        let (ida, mo) = (
            try Person(server, "ida", in: folder, app), try Person(server, "mo", in: folder, app)
        )
        let picture = folder.path("icon.png")
        let bytes = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff, 0])
        try bytes.write(to: URL(fileURLWithPath: picture))
        let set = try server.command(
            "container", "set", app.container, "name=Notes", "icon=\(picture)",
            "website=https://notes.example/")
        #expect(set.status == 0, "\(set.error)")
        let list = try server.command("container", "list", "--json").object["containers"]
        let settings = (list as? [[String: Any]])?.compactMap {
            $0["settings"] as? [String: String]
        }
        let icon = try #require(settings?.compactMap { $0["icon"] }.first)
        let shown = try server.request("/sign-in/icon/\(icon)", ["--head"])
        #expect(shown.status == 200 && shown.text.contains("Content-Type: image/png"))
        for wrong in ["icon=\(folder.path("none"))", "icon=\(folder.path("data"))", "website=x"] {
            #expect(try server.command("container", "set", app.container, wrong).status == 1)
        }
        let share = try ida.share(
            """
            "publicPermission":"NONE","participants":[{"permission":"READ_ONLY","userIdentity":\
            {"lookupInfo":{"emailAddress":"mo@example.org"}}}]
            """)
        let path = "/share/\(try #require(share["shortGUID"] as? String))"
        for person in [ida, mo] { try person.signIn(path) }
        let own = try ida.get("/account").body
        #expect(own.contains("<a href=\"\(path)\">Shopping</a>"))
        #expect(own.contains("In Notes, with 1 other person"))
        #expect(own.contains("src=\"/sign-in/icon/\(icon)\""))
        // Somebody invited has nothing yet.
        #expect(try !mo.get("/account").body.contains("Shopping"))
        #expect(try mo.send(path, ["do": "join"]).status == 303)
        let theirs = try mo.get("/account").body
        #expect(theirs.contains("<a href=\"\(path)\">Shopping</a>"))
        #expect(theirs.contains("In Notes, from Ida"))
        _ = try ida.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Z"},"operations":[{"operationType":"forceDelete","record":
            {"recordName":"share"}}]}
            """)
        for person in [ida, mo] {
            #expect(try !person.get("/account").body.contains("Shopping"))
        }
    }

    @Test("By the sheet of the page, who takes part does what their app could, to this share alone")
    func sheet() throws {
        let (server, app) = try started()
        let (ida, mo) = (
            try Person(server, "ida", in: folder, app), try Person(server, "mo", in: folder, app)
        )
        let share = try ida.share("\"publicPermission\":\"READ_ONLY\"")
        let path = "/share/\(try #require(share["shortGUID"] as? String))"
        for person in [ida, mo] { try person.signIn(path) }
        func ask(_ person: Person, _ operation: String? = nil) throws -> [String: Any] {
            let answer = try person.send(
                path, ["do": "sheet"].merging(operation.map { ["operation": $0] } ?? [:]) { $1 })
            let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
            let found = try #require(object as? [String: Any], "\(answer.text)")
            return (found["records"] as? [[String: Any]])?.first ?? found
        }
        func update(_ record: [String: Any], _ members: String) throws -> String {
            let tag = try #require(record["recordChangeTag"] as? String, "\(record)")
            return """
                {"operationType":"update","record":{"recordName":"share","recordType":"cloudkit.share",\
                "recordChangeTag":"\(tag)",\(members)}}
                """
        }
        #expect(try ask(mo)["serverErrorCode"] as? String == "NOT_FOUND")
        #expect(try mo.send(path, ["do": "join"]).status == 303)
        let (own, theirs) = (try ask(ida), try ask(mo))
        #expect((own["participants"] as? [Any])?.count == 2)
        let standing = theirs["currentUserParticipant"] as? [String: Any]
        #expect(standing?["permission"] as? String == "READ_ONLY")
        // A participant makes themselves no writer.
        let wish = try update(theirs, "\"publicPermission\":\"READ_WRITE\"")
        #expect(try ask(mo, wish)["serverErrorCode"] != nil)
        let changed = try ask(ida, update(own, "\"publicPermission\":\"READ_WRITE\""))
        #expect(changed["publicPermission"] as? String == "READ_WRITE")
        let late = try ask(ida, update(own, "\"publicPermission\":\"NONE\""))
        #expect(late["serverErrorCode"] as? String == "CONFLICT")
        // What else lies in the zone is none of the page's, nor are several things at once.
        let note = #"{"operationType":"forceDelete","record":{"recordName":"note"}}"#
        let end = #"{"operationType":"forceDelete","record":{"recordName":"share"}}"#
        for wrong in [note, "\(end),\(note)", "\(note),\(end)", "[]", "{", ""] {
            #expect(try ask(ida, wrong)["serverErrorCode"] as? String == "BAD_REQUEST", "\(wrong)")
        }
        #expect(try ida.shareRecord()["serverErrorCode"] == nil)
        // One leaves, the other ends it.
        #expect(try ask(mo, end)["deleted"] as? Bool == true)
        #expect(try mo.get(path).body.contains("Join again"))
        #expect(try ask(ida, end)["deleted"] as? Bool == true)
        #expect(try ida.get(path).status == 404)
    }

    private func zone(_ zones: [String: Any]) throws -> String {
        let id = try #require((zones["zones"] as? [[String: Any]])?.first?["zoneID"])
        return String(
            decoding: try JSONSerialization.data(withJSONObject: id), as: UTF8.self)
    }

    @Test("A one-time link lets in who joins first, and looks like nothing to everybody else")
    func oneTime() throws {
        let (server, app) = try started()
        let ida = try Person(server, "ida", in: folder, app)
        let share = try ida.share("\"participants\":[{\"type\":\"USER\",\"oneTimeLink\":true}]")
        let entries = try #require(share["participants"] as? [[String: Any]])
        let url = try #require(entries.compactMap { $0["oneTimeURL"] as? String }.first)
        #expect(url.hasPrefix("http://\(server.address)/share/"))
        let path = "/share/" + (url.split(separator: "/").last ?? "")
        let (mo, eve) = (
            try Person(server, "mo", in: folder, app), try Person(server, "eve", in: folder, app)
        )
        #expect(try !mo.get(path).body.contains("Shopping"))
        for person in [mo, eve] {
            try person.signIn(path)
            #expect(try person.get(path).body.contains("Shopping"))
        }
        #expect(try mo.send(path, ["do": "join"]).status == 303)
        #expect(try eve.get(path).status == 404)
        #expect(try eve.send(path, ["do": "join"]).text.contains("Location: \(path)"))
        #expect(
            try eve.get(path).status == 404 && mo.get(path).body.contains("shares this with you"))
    }

    @Test("Who asks on the page is shown to the owner with their name; approved, they join")
    func asking() throws {
        let (server, app) = try started()
        let ida = try Person(server, "ida", in: folder, app)
        let share = try ida.share("\"allowsAccessRequests\":true")
        let guid = try #require(share["shortGUID"] as? String)
        let mo = try Person(server, "mo", in: folder, app)
        try mo.signIn("/share/\(guid)")
        for link in ["/share/\(guid)", "/share/0zzAbCdEfGhIjKlMnOpQrStUv", "/share/x"] {
            #expect(try mo.get(link).status == 404)
            let asked = try mo.send(link, ["do": "ask"])
            #expect(asked.status == 200 && asked.body.contains("If this item accepts requests"))
        }
        let deadline = Date(timeIntervalSinceNow: 120)
        var record = try ida.shareRecord()
        // The owner's record moves by work of its own.
        while record["recordChangeTag"] as? String == share["recordChangeTag"] as? String {
            try #require(Date() < deadline)
            record = try ida.shareRecord()
        }
        let requesters = try #require(record["requesters"] as? [[String: Any]])
        let identity = try #require(requesters.first?["userIdentity"] as? [String: Any])
        #expect(requesters.count == 1)
        #expect((identity["nameComponents"] as? [String: String])?["givenName"] == "Mo")
        let user = try #require(identity["userRecordName"] as? String)
        let tag = try #require(record["recordChangeTag"] as? String)
        _ = try ida.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Z"},"operations":[{"operationType":"update","record":{"recordName":"share",
            "recordType":"cloudkit.share","recordChangeTag":"\(tag)","approve":["\(user)"]}}]}
            """)
        #expect(try mo.get("/share/\(guid)").body.contains("Shopping"))
        #expect(try mo.send("/share/\(guid)", ["do": "join"]).status == 303)
        #expect(try mo.get("/share/\(guid)").body.contains("shares this with you"))
    }
}
