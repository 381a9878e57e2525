import Accounts
import CloudModel
import Cryptography
import Foundation
import MigrationHistory
import SQLite
import SQLiteStorage
import Storage
import Testing

@Suite("The catalog on disk")
struct CatalogTests {
    @Test("Everything is there again after the file is opened anew")
    func reopened() throws {
        let server = try TestServer()
        let account = try server.user()
        let api = try server.apiToken(origins: ["https://a.example"])
        let web = try server.webToken()
        let key = try ServerKeys(catalog: server.catalog).add(
            container: server.container, environment: .development,
            publicKeyPEM: P256PrivateKey().publicKeyPEM, now: 1)
        let again = try SQLiteCatalog(path: server.catalog.path) { _ in }
        #expect(
            try again.containers(ListRequest()).items
                == server.catalog.containers(ListRequest()).items)
        #expect(try again.apiTokens(ListRequest()).items == [api.record])
        #expect(try again.apiToken(hash: api.record.hash) == api.record)
        #expect(try again.serverKeys(ListRequest()).items == [key])
        #expect(try again.accounts(ListRequest()).items == [account])
        #expect(try again.account(account.id) == account)
        #expect(try again.account(AccountID("x")) == nil)
        #expect(
            try again.account(named: web.userRecordName, in: server.container) == account.id)
        let hash = SHA256.digest(Array(web.token.utf8))
        #expect(try again.webToken(hash: hash) == server.catalog.webToken(hash: hash))
        #expect(try again.webToken(hash: hash)?.account == account.id)
    }

    @Test("No file of the catalog holds a token that was handed out")
    func onlyHashes() throws {
        let server = try TestServer()
        try server.user()
        let api = try server.apiToken().token
        let web = try server.webToken()
        let identified = try #require(
            server.identify(query: "ckAPIToken=\(api)&ckWebAuthToken=\(web.token)").identified)
        #expect(identified.caller.kind == .user)
        var bytes = Data()
        for file in try FileManager.default.contentsOfDirectory(
            at: server.folder, includingPropertiesForKeys: nil)
        { bytes += try Data(contentsOf: file) }
        #expect(bytes.range(of: Data(web.userRecordName.text.utf8)) != nil)
        #expect(bytes.range(of: Data(SHA256.digest(Array(web.token.utf8)))) != nil)
        #expect(bytes.range(of: Data(api.utf8)) == nil)
        #expect(bytes.range(of: Data(web.token.utf8)) == nil)
    }

    @Test("The file is its owner's alone")
    func mode() throws {
        let server = try TestServer()
        let attributes = try FileManager.default.attributesOfItem(atPath: server.catalog.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("The check finds nothing in a catalog in use, and names each broken rule")
    func check() throws {
        let server = try TestServer()
        try server.user()
        try server.user("mo@example.org")
        _ = try server.apiToken(origins: ["https://a.example"])
        _ = try server.webToken("mo@example.org")
        _ = try ServerKeys(catalog: server.catalog).add(
            container: server.container, environment: .development,
            publicKeyPEM: P256PrivateKey().publicKeyPEM, now: 1)
        _ = try Users(catalog: server.catalog).delete(email: "mo@example.org")
        #expect(try CatalogCheck(path: server.catalog.path).problems() == [])

        let connection = try Connection(path: server.catalog.path, mode: .readWrite)
        try connection.execute(
            """
            DELETE FROM accounts; UPDATE api_tokens SET hash = x'00', container = 'gone';
            UPDATE server_keys SET scope = 'all';
            INSERT INTO accounts (id, created_at) VALUES ('x', 0);
            INSERT INTO web_tokens
                VALUES (zeroblob(32), x'00', 'y', 'gone', 'production', 2, 1, 2, NULL, '', '');
            INSERT INTO stores (container, environment, name)
                VALUES ('gone', 'development', x'00')
            """)
        let problems = try CatalogCheck(path: server.catalog.path).problems()
        #expect(
            problems == [
                "1 rows of api_tokens in no container",
                "1 rows of web_tokens in no container",
                "1 rows of stores in no container",
                "1 rows of addresses of no account",
                "1 rows of web_tokens of no account",
                "1 stores that no file can be told by",
                "1 origins of no API token",
                "1 accounts without one verified primary address",
                "1 API tokens that no token can match",
                "1 web tokens that no token can match or that end before they begin",
                "1 server keys of another form",
            ])
    }

    @Test("A newer server's catalog, and another program's file, are left alone")
    func foreignFiles() throws {
        let server = try TestServer()
        let connection = try Connection(path: server.catalog.path, mode: .readWrite)
        try connection.execute("INSERT INTO migrations VALUES (99, '0099-later', 0)")
        #expect(throws: MigrationError.newer(name: "0099-later")) {
            try SQLiteCatalog(path: server.catalog.path) { _ in }
        }
        let other = server.folder.appending(path: "other.sqlite").path
        try Connection(path: other, mode: .readWrite).execute("CREATE TABLE t (x)")
        #expect(throws: MigrationError.foreign) {
            try SQLiteCatalog(path: other) { _ in }
        }
    }

    @Test("A secret is made once and kept")
    func secrets() throws {
        let server = try TestServer()
        let first = try server.catalog.secret("test", orStore: [1, 2, 3])
        #expect(first == [1, 2, 3])
        #expect(try server.catalog.secret("test", orStore: [4]) == first)
        #expect(try server.catalog.secret("other", orStore: [4]) == [4])
    }

    @Test("Expired web tokens leave the catalog when others are made")
    func expiredTokens() throws {
        let server = try TestServer()
        try server.user()
        let short = try server.webToken(seconds: 1).token
        let hash = SHA256.digest(Array(short.utf8))
        #expect(try server.catalog.webToken(hash: hash) != nil)
        server.now += 1_000
        _ = try server.webToken()
        #expect(try server.catalog.webToken(hash: hash) == nil)
    }

    @Test("What is refused leaves nothing behind")
    func refusedWhole() throws {
        let server = try TestServer()
        try server.user()
        let users = Users(catalog: server.catalog)
        _ = try users.verify(email: "ida@example.org", address: "+15550100199", now: 1)
        let taken = AccountRecord(
            id: AccountID("a"), givenName: nil, familyName: nil,
            addresses: [
                AccountAddress(
                    address: try AddressFormat.email("mo@example.org"), isPrimary: true,
                    verifiedAt: 1),
                AccountAddress(
                    address: try AddressFormat.phone("+15550100199"), isPrimary: false,
                    verifiedAt: 1),
            ], password: nil, createdAt: 1)
        #expect(throws: CatalogRefusal.addressTaken) { try server.catalog.add(taken) }
        #expect(try users.list().items.count == 1)
        #expect(throws: AccountsRefusal.userUnknown) { try users.find(email: "mo@example.org") }
    }

    @Test("A catalog that cannot be read is an internal error that is told of")
    func unreadable() throws {
        let server = try TestServer()
        let api = try server.apiToken().token
        // Overwrites the pages of every table, which the reader has not cached yet.
        let file = server.folder.appending(path: "catalog.sqlite")
        for name in ["catalog.sqlite", "catalog.sqlite-wal"] {
            let path = server.folder.appending(path: name)
            let handle = try FileHandle(forWritingTo: path)
            let size = try handle.seekToEnd()
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: Data(repeating: 0xa5, count: Int(size)))
            try handle.close()
        }
        #expect(FileManager.default.fileExists(atPath: file.path))
        let found = server.identify(query: "ckAPIToken=\(api)")
        #expect(found.fault == Fault(.internalError, "internal error"))
        #expect(server.reported.count == 1)
    }

    @Test("Many readers and a writer at once see whole records")
    func concurrency() async throws {
        let server = try TestServer()
        let catalog = server.catalog
        let container = server.container
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let tokens = APITokens(catalog: catalog)
                for number in 0..<40 {
                    let made = try tokens.create(
                        container: container, environment: .development, name: "n\(number)",
                        origins: ["https://a.example", "https://b.example"], now: 0)
                    if number % 2 == 0 { try tokens.revoke(name: made.record.name) }
                }
            }
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<100 {
                        for token in try catalog.apiTokens(ListRequest()).items {
                            #expect(token.name.hasPrefix("n"))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try catalog.apiTokens(ListRequest()).items.count == 20)
    }
}
