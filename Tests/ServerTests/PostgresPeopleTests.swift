#if PostgreSQL
    import Cryptography
    import Foundation
    import PostgreSQLServer
    import Testing

    @Suite("Names of people at several servers on one PostgreSQL")
    struct PostgresPeopleTests: ServersOnPostgres {
        let folder: TemporaryFolder
        let database: PostgreSQLServer
        let environment: [String: String]

        init() throws {
            folder = try TemporaryFolder()
            database = try PostgreSQLServer()
            environment = try PostgresServingTests.environment(of: "app", on: database)
        }

        /// Lets a person of the app's own in by a signed request, and notes what they are called; a web token of theirs.
        private func signIn(
            called name: String, at server: ServerProcess, by key: P256PrivateKey, _ keyID: String
        ) throws -> String {
            let target = "/accounts/1/iCloud.a/development/web-token"
            let body = #"{"externalID":"u-17","givenName":"\#(name)"}"#
            let date = ISO8601DateFormatter().string(from: Date())
            let digest = Base64.encode(SHA256.digest(Array(body.utf8)))
            let signature = Base64.encode(key.sign(Array("\(date):\(digest):\(target)".utf8)))
            let answer = try server.request(
                target,
                [
                    "-d", body, "-H", "X-Apple-CloudKit-Request-KeyID: \(keyID)", "-H",
                    "X-Apple-CloudKit-Request-ISO8601Date: \(date)", "-H",
                    "X-Apple-CloudKit-Request-SignatureV1: \(signature)",
                ])
            let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
            let token = (object as? [String: Any])?["ckWebAuthToken"] as? String
            return try #require(token, "\(answer)")
        }

        /// What a server shows the owner of a share to be called.
        private func ownerName(at server: ServerProcess, _ query: String) throws -> String? {
            let answer = try post(
                server, query, "records/lookup",
                #"{"zoneID":{"zoneName":"z"},"records":[{"recordName":"share"}]}"#)
            let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
            let records = (object as? [String: Any])?["records"] as? [[String: Any]]
            let owner = records?.first?["owner"] as? [String: Any]
            let identity = try #require(owner?["userIdentity"] as? [String: Any], "\(answer)")
            return (identity["nameComponents"] as? [String: Any])?["givenName"] as? String
        }

        /// A key that may let people in, and its ID.
        private func addKey(at server: ServerProcess) throws -> (P256PrivateKey, keyID: String) {
            let key = P256PrivateKey()
            let file = folder.path("key.pem")
            try key.publicKeyPEM.write(toFile: file, atomically: true, encoding: .utf8)
            let added = try command(
                "server-key", "add", "iCloud.a", "development", "--public-key", file,
                "--scope", "container", on: server)
            return (key, try #require(added["keyID"] as? String))
        }

        @Test("A signed request is told to try again at its head while the database is away")
        func databaseAway() throws {
            let server = try start("a")
            _ = try command("container", "create", "iCloud.a", on: server)
            let (key, keyID) = try addKey(at: server)
            try database.stop()
            let date = ISO8601DateFormatter().string(from: Date())
            let connection = WireConnection(address: server.address)
            // Were the body asked for, it would be taken for one that nobody may send, whoever is there by then.
            let hasBegun = connection.begin(
                "POST", "/accounts/1/iCloud.a/development/web-token",
                "Content-Length: 20\r\nExpect: 100-continue\r\n"
                    + "X-Apple-CloudKit-Request-KeyID: \(keyID)\r\n"
                    + "X-Apple-CloudKit-Request-ISO8601Date: \(date)\r\n"
                    + "X-Apple-CloudKit-Request-SignatureV1: \(Base64.encode(key.sign([])))\r\n")
            try #require(hasBegun)
            let answer = try #require(connection.text { $0.contains("\r\n\r\n") })
            #expect(answer.hasPrefix("HTTP/1.1 503 "), "\(answer)")
        }

        @Test("Who was renamed by one server has the new name in the next answer of another")
        func renamed() throws {
            let first = try start("a")
            _ = try command("container", "create", "iCloud.a", on: first)
            let (key, keyID) = try addKey(at: first)
            let api = try command("api-token", "create", "iCloud.a", "development", on: first)
            let token = try signIn(called: "Ann", at: first, by: key, keyID)
                .addingPercentEncoding(withAllowedCharacters: .alphanumerics)
            let query =
                "ckAPIToken=\(try #require(api["apiToken"] as? String))"
                + "&ckWebAuthToken=\(try #require(token))"
            try makeFolder("b", beside: first)
            let second = try start("b")
            let zone =
                #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"z"}}}]}"#
            try #require(try post(first, query, "zones/modify", zone).status == 200)
            let shared = try post(
                first, query, "records/modify",
                #"{"zoneID":{"zoneName":"z"},"atomic":true,"operations":["#
                    + #"{"operationType":"create","record":{"recordType":"Note","recordName":"r"}},"#
                    + #"{"operationType":"create","record":{"recordType":"cloudkit.share","#
                    + #""recordName":"share","forRecord":{"recordName":"r"},"#
                    + #""publicPermission":"READ_ONLY"}}]}"#)
            try #require(!shared.body.contains("serverErrorCode"), "\(shared)")
            var known = "Ann"
            for number in 0..<10 {
                let (renaming, showing) = number % 2 == 0 ? (first, second) : (second, first)
                for server in [showing, renaming] {
                    #expect(try ownerName(at: server, query) == known)
                }
                known = "Ann \(number)"
                _ = try signIn(called: known, at: renaming, by: key, keyID)
                #expect(try ownerName(at: showing, query) == known)
            }
        }
    }
#endif
