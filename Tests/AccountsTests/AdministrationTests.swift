import Accounts
import CloudModel
import Cryptography
import Storage
import Testing

@Suite("Commands on containers and credentials")
struct AdministrationTests {
    @Test("A container is made once, in any case, and only under a legal name")
    func containers() throws {
        let server = try TestServer()
        let containers = Containers(catalog: server.catalog)
        #expect(throws: CatalogRefusal.containerExists) {
            try containers.create("ICLOUD.org.example.tea", now: 0)
        }
        for name in ["", ".", "..", "a/b", "a b", "ä", String(repeating: "a", count: 129)] {
            #expect(throws: AccountsRefusal.containerNameIllegal) {
                try containers.create(name, now: 0)
            }
        }
        let made = try containers.create("iCloud.Bee", now: 7)
        #expect(
            try containers.list().items.map(\.id.name) == ["iCloud.Bee", "iCloud.org.example.Tea"])
        #expect(try containers.find("icloud.bee") == made)
        #expect(made.createdAt == 7)
        #expect(throws: CatalogRefusal.containerUnknown) { try containers.find("iCloud.no") }
    }

    @Test("Settings of a container are set, kept, and unset by an empty value")
    func settings() throws {
        let server = try TestServer()
        let containers = Containers(catalog: server.catalog)
        let name = server.container.name
        let before = server.catalog.version
        let set = try containers.set(
            ["fallbackURL": "https://tea.example.org/get", "publicChanges": "true"], of: name)
        #expect(
            set.settings == [
                "fallbackURL": "https://tea.example.org/get", "publicChanges": "true",
            ])
        #expect(server.catalog.version > before)
        #expect(try containers.find(name.uppercased()) == set)
        let unset = try containers.set(["fallbackURL": ""], of: name)
        #expect(unset.settings == ["publicChanges": "true"])
        #expect(throws: AccountsRefusal.settingUnknown) {
            try containers.set(["publicChanges": "false", "color": "red"], of: name)
        }
        for (setting, value) in [
            (.publicChanges, "yes"), (.fallbackURL, "javascript:alert(1)"),
            (.fallbackURL, "tea.example.org"), (.fallbackURL, "https:"),
            (.fallbackURL, "https://a b"), (.fallbackURL, "cloudkit-tea://x"),
            (.website, "javascript:alert(1)"), (.website, "data:text/html,x"),
            (.name, "a\nb"), (.name, "a\u{202e}b"), (.name, String(repeating: "x", count: 129)),
            (.icon, "icon.png"),
        ] as [(ContainerSetting, String)] {
            let refusal = #expect(throws: AccountsRefusal.settingValueIllegal(setting)) {
                try containers.set([setting.rawValue: value], of: name)
            }
            #expect(refusal?.description.hasPrefix("\(setting.rawValue) takes ") == true)
        }
        #expect(try containers.find(name).settings == ["publicChanges": "true"])
        #expect(throws: CatalogRefusal.containerUnknown) {
            try containers.set(["publicChanges": "true"], of: "iCloud.no")
        }
    }

    @Test("API tokens are 64 lower-case hexadecimal digits and keep what they were made with")
    func apiTokens() throws {
        let server = try TestServer()
        let tokens = APITokens(catalog: server.catalog)
        let made = try tokens.create(
            container: server.container, environment: .production, name: "web",
            origins: ["https://B.example", "https://a.example:443", "https://a.example"],
            callback: "https://a.example/back", now: 9)
        #expect(Hexadecimal.decode(made.token)?.count == 32)
        #expect(made.record.origins == ["https://a.example", "https://b.example"])
        #expect(made.record.hash == SHA256.digest(Array(made.token.utf8)))
        #expect(try tokens.list().items == [made.record])
        #expect(throws: CatalogRefusal.nameTaken) {
            try tokens.create(
                container: server.container, environment: .development, name: "web", now: 0)
        }
        let unnamed = try server.apiToken()
        #expect(unnamed.record.name != "web")
        #expect(unnamed.token != made.token)
        try tokens.revoke(name: "web")
        #expect(throws: CatalogRefusal.apiTokenUnknown) { try tokens.revoke(name: "web") }
        #expect(try tokens.list().items == [unnamed.record])
    }

    @Test("A changed API token keeps its text, and what is not named stays")
    func changedTokens() throws {
        let server = try TestServer()
        let tokens = APITokens(catalog: server.catalog)
        let made = try tokens.create(
            container: server.container, environment: .production, name: "web",
            origins: ["https://a.example"], callback: "https://a.example/back", now: 9)
        let moved = try tokens.change(name: "web", origins: ["https://B.example"], callback: nil)
        #expect(moved.origins == ["https://b.example"] && moved.callback == made.record.callback)
        #expect(moved.hash == made.record.hash && moved.createdAt == 9)
        let open = try tokens.change(name: "web", origins: [], callback: "none")
        #expect(open.origins.isEmpty && open.callback == nil)
        #expect(try tokens.list().items == [open])
        for (origins, callback, refusal) in [
            (["https://b.example/"], nil, AccountsRefusal.originIllegal),
            (nil, "http://a.example/back", .callbackIllegal),
        ] as [([String]?, String?, AccountsRefusal)] {
            #expect(throws: refusal) {
                try tokens.change(name: "web", origins: origins, callback: callback)
            }
        }
        #expect(throws: CatalogRefusal.apiTokenUnknown) {
            try tokens.change(name: "no", origins: [], callback: nil)
        }
        #expect(try tokens.list().items == [open])
    }

    @Test("An API token is refused with a wrong name, origin, callback or container")
    func refusedTokens() throws {
        let server = try TestServer()
        let tokens = APITokens(catalog: server.catalog)
        func create(
            _ container: ContainerID? = nil, _ environment: CloudModel.Environment = .development,
            name: String? = nil, origins: [String] = [], callback: String? = nil
        ) throws {
            _ = try tokens.create(
                container: container ?? server.container, environment: environment, name: name,
                origins: origins, callback: callback, now: 0)
        }
        for name in ["", "a\nb", "a\u{0}", "\u{202e}a", String(repeating: "n", count: 129)] {
            #expect(throws: AccountsRefusal.nameIllegal) { try create(name: name) }
        }
        #expect(throws: AccountsRefusal.originIllegal) {
            try create(origins: ["https://a.example", "https://b.example/"])
        }
        for callback in [
            "", "x", "javascript:alert(1)", "data:text/html,x", "https://a b", "https:",
        ] {
            #expect(throws: AccountsRefusal.callbackIllegal) { try create(callback: callback) }
        }
        #expect(throws: AccountsRefusal.callbackIllegal) {
            try create(nil, .production, callback: "http://a.example")
        }
        let unknown = try #require(ContainerID("iCloud.no"))
        #expect(throws: CatalogRefusal.containerUnknown) { try create(unknown) }
        #expect(try tokens.list().items.isEmpty)
        for callback in ["post-message", "http://localhost:3000/", "cloudkit-icloud.tea://back"] {
            try create(callback: callback)
        }
    }

    @Test("A server key is registered by its public half only")
    func serverKeys() throws {
        let server = try TestServer()
        let keys = ServerKeys(catalog: server.catalog)
        func add(_ pem: String, name: String? = nil) throws -> ServerKeyRecord {
            try keys.add(
                container: server.container, environment: .production, publicKeyPEM: pem,
                name: name, scope: .container, now: 3)
        }
        let key = P256PrivateKey()
        let added = try add(key.publicKeyPEM, name: "nightly import")
        #expect(Hexadecimal.decode(added.keyID)?.count == 32)
        #expect(try keys.list().items == [added])
        #expect(throws: AccountsRefusal.publicKeyOfOtherKind) { try add(key.pem) }
        #expect(throws: AccountsRefusal.publicKeyNotPEM) { try add("") }
        #expect(throws: AccountsRefusal.publicKeyNotPEM) {
            try add(key.publicKeyPEM + key.publicKeyPEM)
        }
        #expect(throws: AccountsRefusal.publicKeyNotP256) {
            try add("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
        }
        #expect(throws: AccountsRefusal.nameIllegal) { try add(key.publicKeyPEM, name: "") }
        #expect(throws: CatalogRefusal.serverKeyUnknown) { try keys.revoke(keyID: "x") }
        try keys.revoke(keyID: added.keyID)
        #expect(try keys.list().items.isEmpty)
    }

    @Test("Every refusal is one line that names no secret")
    func texts() {
        let refusals: [any Error] = [
            AccountsRefusal.settingUnknown, AccountsRefusal.publicKeyOfOtherKind,
            CatalogRefusal.nameTaken, CatalogRefusal.webTokenUnknown,
        ]
        for refusal in refusals {
            #expect(!"\(refusal)".contains("\n"))
            #expect("\(refusal)".count > 10)
        }
    }
}
