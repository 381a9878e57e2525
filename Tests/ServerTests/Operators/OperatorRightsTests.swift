import Administration
import CloudModel
import Cryptography
import Foundation
import Storage
import Testing

@testable import Commands
@testable import Server

@Suite("Operators: what each may do, over all commands")
struct OperatorRightsTests {
    /// One way to ask for a command, and what it needs.
    struct Way {
        enum Reach { case container, person, filtered, server }

        var body: [String: Any] = [:]
        let reach: Reach
        var changes = true
        var proof = false
        /// Whether it wants somebody who acts as the person.
        var acting = false
    }

    private static let start: Milliseconds = 1_800_000_000_000
    private let temporary: TemporaryFolder
    private let server: FolderServer
    private let account = AccountID("0123456789abcdef0123456789abcdef")

    init() throws {
        temporary = try TemporaryFolder()
        server = try FolderServer(data: temporary.path("data"))
    }

    private static func located(_ further: [String: Any] = [:]) -> [String: Any] {
        ["container": "iCloud.a", "environment": "development"].merging(further) { $1 }
    }

    /// Every command of the interface: a new one has to say here what it needs.
    private func ways(serverKey: String) -> [String: [Way]] {
        var ways: [String: [Way]] = [
            "container create": [Way(body: ["id": "iCloud.new"], reach: .server)],
            "container list": [Way(reach: .filtered, changes: false)],
            "container set": [
                Way(
                    body: ["id": "iCloud.a", "key=value": ["publicChanges=true"]],
                    reach: .container)
            ],
            "container delete": [
                Way(body: ["id": "iCloud.a", "yes": true], reach: .server, proof: true)
            ],
            "api-token create": [Way(body: Self.located(), reach: .container, proof: true)],
            "api-token list": [Way(reach: .filtered, changes: false)],
            "api-token set": [
                Way(
                    body: ["name": "web", "any-origin": true], reach: .container, proof: true)
            ],
            "api-token revoke": [Way(body: ["name": "app"], reach: .container)],
            "server-key add": [
                Way(
                    body: Self.located(["public-key": P256PrivateKey().publicKeyPEM]),
                    reach: .container, proof: true)
            ],
            "server-key list": [Way(reach: .filtered, changes: false)],
            "server-key revoke": [Way(body: ["keyid": serverKey], reach: .container)],
            "doctor": [Way(reach: .server, changes: false)],
            "audit list": [Way(reach: .server, changes: false)],
            "secrets reseal": [Way(reach: .server)],
            "server show": [Way(reach: .server, changes: false)],
            "server settings": [Way(reach: .server, changes: false)],
            "server backup": [Way(reach: .server)],
            "server mail": [Way(body: ["email": "ann@a.example"], reach: .server)],
            "check": [
                Way(reach: .server, changes: false),
                Way(body: ["remove-damaged": true], reach: .server, proof: true),
            ],
        ]
        for more in [
            waysOfPeople(), waysOfOperators(), waysOfUsers(), waysOfApps(), waysOfRecords(),
            waysOfInsight(), waysOfDelivery(), waysOfStores(),
        ] {
            ways.merge(more) { $1 }
        }
        return ways
    }

    private func waysOfPeople() -> [String: [Way]] {
        let ann: [String: Any] = ["email": "ann@a.example"]
        return [
            "user create": [Way(body: ["email": "new@a.example"], reach: .server)],
            "user list": [Way(reach: .filtered, changes: false)],
            "user verify": [
                Way(
                    body: ann.merging(["address": "+4912345"]) { $1 }, reach: .server, proof: true)
            ],
            "user delete": [
                Way(body: ["email": "none@a.example", "yes": true], reach: .server, proof: true)
            ],
            "user password": [
                Way(
                    body: ann.merging(["password-stdin": "correct horse"]) { $1 }, reach: .server,
                    proof: true)
            ],
            "user second-factor": [
                Way(body: ann, reach: .person, changes: false),
                Way(
                    body: ["email": "ann@a.example", "remove": true], reach: .server, proof: true),
            ],
            "user invite": [Way(body: ["email": "cy@a.example"], reach: .server)],
            "user erase": [
                Way(body: ["email": "none@a.example", "yes": true], reach: .server, proof: true)
            ],
            "user export": [
                Way(
                    body: ["email": "ann@a.example"], reach: .server, changes: false, proof: true)
            ],
            "export": [Way(body: Self.located(), reach: .container, changes: false, proof: true)],
            "import": [Way(body: Self.located(), reach: .container, proof: true)],
            "user restore": restoring(["email": "ann@a.example"]),
            "zone restore": restoring(Self.located(["zone": "_defaultZone"])),
            "record restore": restoring(Self.located(["database": "public", "name": ["r"]])),
        ]
    }

    /// Shown and done.
    private func restoring(_ body: [String: Any]) -> [Way] {
        [
            Way(body: body, reach: .server, changes: false, proof: true),
            Way(body: body.merging(["yes": true]) { $1 }, reach: .server, proof: true),
        ]
    }

    private func waysOfOperators() -> [String: [Way]] {
        let ann: [String: Any] = ["email": "ann@a.example"]
        return [
            "identity-provider add": [
                Way(
                    body: ["name": "Id", "issuer": "https://id.example", "client": "us"],
                    reach: .server, proof: true)
            ],
            "identity-provider list": [Way(reach: .server, changes: false)],
            "identity-provider remove": [
                Way(body: ["name": "Id"], reach: .server)
            ],
            "operator create": [Way(body: ann, reach: .server, proof: true)],
            "operator invite": [
                Way(body: ["email": "cy@a.example"], reach: .server, proof: true)
            ],
            "operator list": [Way(reach: .server, changes: false)],
            "operator remove": [Way(body: ann, reach: .server, proof: true)],
            "operator-token create": [Way(reach: .server, proof: true)],
            "operator-token list": [Way(reach: .server, changes: false)],
            "operator-token revoke": [Way(body: ["name": "none"], reach: .server)],
        ]
    }

    private func waysOfUsers() -> [String: [Way]] {
        let role: [String: Any] = ["email": "ann@a.example", "role": "Gardener"]
        return [
            "user named": [
                Way(
                    body: ["container": "iCloud.a", "userrecordname": "_none"], reach: .container,
                    changes: false)
            ],
            "user apps": [
                Way(body: ["email": "ann@a.example"], reach: .person, changes: false)
            ],
            "user role add": [Way(body: Self.located(role), reach: .container)],
            "user role remove": [Way(body: Self.located(role), reach: .container)],
            "web-token create": [
                Way(
                    body: Self.located(["email": "ann@a.example"]), reach: .container, proof: true)
            ],
            "web-token list": [Way(body: Self.located(), reach: .container, changes: false)],
            "web-token revoke": [
                Way(
                    body: Self.located(["email": "ann@a.example", "all": true]),
                    reach: .container)
            ],
        ]
    }

    private func waysOfRecords() -> [String: [Way]] {
        let open: [String: Any] = ["database": "public"]
        let own: [String: Any] = ["database": "private", "user": "ann@a.example"]
        let record = #"{"recordName":"r","recordType":"Bed"}"#
        func ways(_ more: [String: Any], changes: Bool) -> [Way] {
            [
                Way(
                    body: Self.located(open).merging(more) { $1 }, reach: .container,
                    changes: changes),
                Way(
                    body: Self.located(own).merging(more) { $1 }, reach: .container,
                    changes: changes, acting: true),
            ]
        }
        return [
            "zone list": ways([:], changes: false),
            "record list": ways([:], changes: false),
            "record get": ways(["name": ["r"]], changes: false),
            "record query": ways(["type": "Bed"], changes: false),
            "record changes": ways(["zone": "Z"], changes: false),
            "record asset": ways(["name": "r", "field": "f"], changes: false),
            "record save": ways(["file": record], changes: true),
            "record delete": ways(["name": ["r"], "yes": true], changes: true),
            "share list": [
                Way(
                    body: Self.located(["email": "ann@a.example"]), reach: .container,
                    changes: false, acting: true)
            ],
            "share accept": [
                Way(
                    body: Self.located(["email": "ann@a.example", "link": "nowhere"]),
                    reach: .container, acting: true)
            ],
        ]
    }

    private func waysOfInsight() -> [String: [Way]] {
        [
            "logs": [
                Way(body: ["container": "iCloud.a"], reach: .container, changes: false),
                Way(reach: .server, changes: false),
            ],
            "user sync": [
                Way(
                    body: Self.located(["email": "ann@a.example"]), reach: .container,
                    changes: false)
            ],
            "telemetry show": [Way(body: Self.located(), reach: .container, changes: false)],
            "alert add": [
                Way(
                    body: [
                        "name": "a", "metric": "errors", "above": "5", "container": "iCloud.a",
                        "mail": "a@b.example",
                    ], reach: .container)
            ],
            "alert list": [Way(reach: .server, changes: false)],
            "alert remove": [Way(body: ["name": "none"], reach: .server)],
            "alert test": [Way(body: ["name": "none"], reach: .server)],
        ]
    }

    private func waysOfApps() -> [String: [Way]] {
        let schema: [String: Any] = ["container": "iCloud.a", "file": "DEFINE SCHEMA"]
        var ways: [String: [Way]] = [
            "webhook add": [
                Way(
                    body: Self.located(["url": "https://127.0.0.1:9/", "name": "w"]),
                    reach: .container, proof: true)
            ],
            "webhook list": [Way(body: Self.located(), reach: .container, changes: false)],
            "subscription list": [Way(body: Self.located(), reach: .container, changes: false)],
            "push key list": [Way(reach: .filtered, changes: false)],
            "schema export": [
                Way(body: ["container": "iCloud.a"], reach: .container, changes: false)
            ],
            "schema import": [Way(body: schema, reach: .container)],
            "schema validate": [Way(body: schema, reach: .container, changes: false)],
            "schema check": [Way(body: schema, reach: .container, changes: false)],
            "schema diff": [
                Way(body: ["container": "iCloud.a"], reach: .container, changes: false)
            ],
            "schema deploy": [
                Way(body: ["container": "iCloud.a"], reach: .container, changes: false),
                Way(body: ["container": "iCloud.a", "yes": true], reach: .container),
            ],
            "schema reset": [
                Way(body: ["container": "iCloud.a"], reach: .container, changes: false),
                Way(
                    body: ["container": "iCloud.a", "yes": true], reach: .container, proof: true),
            ],
            "schema history": [
                Way(body: ["container": "iCloud.a"], reach: .container, changes: false)
            ],
            "schema indexes": [
                Way(body: ["container": "iCloud.a"], reach: .container, changes: false)
            ],
        ]
        for name in ["webhook test", "webhook replay", "webhook remove"] {
            ways[name] = [Way(body: Self.located(["name": "none"]), reach: .container)]
        }
        #if ApplePush
            ways["push key add"] = [
                Way(
                    body: [
                        "container": "iCloud.a", "topic": "org.a", "key": P256PrivateKey().pem,
                        "key-id": "ABCDEFGHIJ", "team-id": "ABCDEFGHIJ",
                    ], reach: .container)
            ]
            ways["push key remove"] = [
                Way(body: ["container": "iCloud.a", "topic": "org.a"], reach: .container)
            ]
        #endif
        return ways
    }

    private func waysOfStores() -> [String: [Way]] {
        [
            "size": [
                Way(body: ["container": "iCloud.a"], reach: .container, changes: false),
                Way(reach: .server, changes: false),
            ],
            "shrink": [
                Way(body: ["container": "iCloud.a"], reach: .container), Way(reach: .server),
            ],
            "storage copy": [
                Way(
                    body: ["from": "sqlite:/none", "to": "sqlite:/no"], reach: .server, proof: true)
            ],
        ]
    }

    private func waysOfDelivery() -> [String: [Way]] {
        [
            "outbox list": [Way(body: Self.located(), reach: .container, changes: false)],
            "webhook dead-letters": [
                Way(body: Self.located(["name": "none"]), reach: .container, changes: false)
            ],
            "push test": [
                Way(body: Self.located(["email": "ann@a.example"]), reach: .container)
            ],
        ]
    }

    /// Asks for a command as somebody; the error's word, or nil.
    private func ask(
        _ name: String, _ body: [String: Any], as actor: Operator, acting: Acting? = nil
    ) throws -> String? {
        let text = try JSONSerialization.data(withJSONObject: body)
        let words = name.split(separator: " ").map(String.init)
        let answer = CommandConsole().answer(
            .run(words: words, body: Array(text)),
            by: Administrator(
                actor, as: acting, on: server.folder, noting: server.folder.note))
        let object = try JSONSerialization.jsonObject(with: Data(answer.body))
        return (object as? [String: Any])?["error"] as? String
    }

    private func prepare() throws -> String {
        let local = Operator.commandLine(userNumber: 0)
        for name in ["iCloud.a", "iCloud.b"] {
            #expect(try ask("container create", ["id": name], as: local) == nil)
        }
        for name in ["app", "web"] {
            let token = Self.located(["name": name])
            #expect(try ask("api-token create", token, as: local) == nil)
        }
        for email in ["ann@a.example", "bob@b.example"] {
            #expect(try ask("user create", ["email": email], as: local) == nil)
        }
        let container = try #require(ContainerID("iCloud.a"))
        let folder = server.folder
        _ = try folder.users.recordName(
            of: folder.users.find(email: "ann@a.example"), in: container)
        return try folder.serverKeys.add(
            container: container, environment: .development,
            publicKeyPEM: P256PrivateKey().publicKeyPEM, now: Self.start
        ).keyID
    }

    private func rights(_ names: [String]?, readOnly: Bool = false) -> OperatorRights {
        OperatorRights(
            containers: names.map { Set($0.compactMap { ContainerID($0) }) }, isReadOnly: readOnly)
    }

    @Test("Each command is refused to whom its rights do not reach, and to nobody else")
    func matrix() throws {
        defer { server.stop() }
        let key = try prepare()
        let ways = ways(serverKey: key)
        #expect(Set(ways.keys) == Set(Command.all.filter(\.isAtConsole).map(\.name)))
        func each(_ actor: Operator, _ expected: (Way) -> String?) throws {
            for (name, ways) in ways.sorted(by: { $0.key < $1.key }) {
                for way in ways {
                    let error = try ask(name, way.body, as: actor)
                    let wanted = expected(way)
                    if wanted != nil
                        || ["FORBIDDEN", "PROOF_NEEDED", "NOT_ACTING"].contains(error)
                    {
                        #expect(error == wanted, "\(actor): \(name) \(way.body)")
                    }
                    #expect(error != "USAGE" && error != "FAILED", "\(name) \(way.body)")
                }
            }
        }
        let (fresh, stale) = (Self.start - 1, Self.start - 600_001)
        // Who may only look, everywhere, and in a container.
        try each(.account(account, rights(nil, readOnly: true), provedAt: fresh)) {
            $0.changes ? "FORBIDDEN" : $0.acting ? "NOT_ACTING" : nil
        }
        // Of another container, and of none any more.
        for names in [["iCloud.b"], []] {
            try each(.account(account, rights(names), provedAt: fresh)) {
                $0.reach == .filtered ? nil : "FORBIDDEN"
            }
        }
        // Of the container, with an old proof.
        try each(.account(account, rights(["iCloud.a"]), provedAt: stale)) {
            $0.reach == .server
                ? "FORBIDDEN" : $0.proof ? "PROOF_NEEDED" : $0.acting ? "NOT_ACTING" : nil
        }
        try each(.account(account, .all, provedAt: stale)) {
            $0.proof ? "PROOF_NEEDED" : $0.acting ? "NOT_ACTING" : nil
        }
        try each(.token(name: "job", .all)) { $0.proof || $0.acting ? "FORBIDDEN" : nil }
        // This one deletes the container before it comes to records.
        try each(.account(account, .all, provedAt: fresh)) { _ in nil }
    }

    /// What makes no sense on somebody's behalf, and is refused until the operator stops.
    private static let refusedWhileActing: Set = [
        "container create", "container set", "container delete", "api-token create",
        "api-token set", "api-token revoke", "server-key add", "server-key revoke",
        "secrets reseal", "server backup", "server mail", "user create", "user verify",
        "user delete", "user password", "user invite", "user erase", "user export",
        "user restore", "zone restore", "record restore", "identity-provider add",
        "identity-provider remove", "operator create", "operator invite", "operator remove",
        "operator-token create", "operator-token revoke", "user role add", "user role remove",
        "web-token create", "web-token revoke", "alert add", "alert remove", "alert test",
        "webhook add", "webhook test", "webhook replay", "webhook remove", "schema import",
        "schema deploy", "schema reset", "shrink", "storage copy", "push key add",
        "push key remove",
    ]

    @Test(
        "While an operator acts as somebody, each command is for that person, only looks, or is refused"
    )
    func acting() throws {
        defer { server.stop() }
        let key = try prepare()
        let ann = try server.folder.users.find(email: "ann@a.example").id
        let container = try #require(ContainerID("iCloud.a"))
        let target = ContainerEnvironment(container, .development)
        let acting = Acting(ann, named: "ann@a.example", in: target)
        // The proof with which it was begun may be old by now.
        let stale = Operator.account(account, .all, provedAt: Self.start - 600_001)
        let fresh = Operator.account(account, .all, provedAt: Self.start - 1)
        let refusals = ["ACTING", "NOT_ACTING", "FORBIDDEN"]
        for command in Command.all where command.isAtConsole {
            let kind = CommandActing(of: command)
            // A new command has to be put among those for the person, those that look, or here.
            #expect(
                (kind == .refused) == Self.refusedWhileActing.contains(command.name),
                "\(command.name)")
            for way in try #require(ways(serverKey: key)[command.name]) {
                let error = try ask(
                    command.name, way.body, as: way.proof ? fresh : stale, acting: acting)
                let isRefused = kind == .refused || kind == .own && way.changes
                if isRefused {
                    #expect(error == "ACTING", "\(command.name) \(way.body)")
                } else {
                    #expect(
                        error.map { refusals.contains($0) } != true,
                        "\(command.name) \(way.body) \(error ?? "")")
                }
                // The actions say the same without the list of commands.
                guard way.changes || kind == .person else { continue }
                let isExpected = isRefused || kind == .person && !names(ann: way.body)
                #expect(
                    try isRefusedInside(command, way.body, by: fresh, acting: acting)
                        != !isExpected, "\(command.name) \(way.body)")
            }
            guard kind == .person else { continue }
            for (key, other) in [
                ("user", "bob@b.example"), ("email", "bob@b.example"), ("container", "iCloud.b"),
                ("environment", "production"),
            ] where command.consoleArguments.contains(where: { $0.key == key }) {
                for way in try #require(ways(serverKey: self.account.text)[command.name]) {
                    let body = way.body.merging([key: other]) { $1 }
                    #expect(
                        try ask(command.name, body, as: fresh, acting: acting) == "ACTING",
                        "\(command.name) \(body)")
                }
            }
        }
    }

    private func names(ann body: [String: Any]) -> Bool {
        ["user", "email"].contains { body[$0] as? String == "ann@a.example" }
    }

    /// Whether the action of a command refuses because of whom the operator acts as; nil where it fails otherwise.
    private func isRefusedInside(
        _ command: Command, _ body: [String: Any], by actor: Operator, acting: Acting
    ) throws -> Bool? {
        let text = try JSONSerialization.data(withJSONObject: body)
        let invocation = try ConsoleArguments(Array(text), of: command).invocation()
        let administrator = Administrator(actor, as: acting, on: server.folder)
        let files = ConsoleFiles(NoConsoleStream(), for: invocation)
        do {
            switch command.action {
            case .data(let action): _ = try action(invocation, administrator)
            case .watched(let action):
                _ = try action(invocation, administrator, ProgressWatcher { _ in true })
            case .streamed(let action): _ = try action(invocation, administrator, files)
            case .copy(_, _, let action):
                _ = try action(
                    invocation, administrator, CopyDestination { try files.print($0) })
            case .local: break
            }
            return false
        } catch let refusal as OperatorRefusal {
            if case .acts = refusal { return true }
            return nil
        } catch {
            return nil
        }
    }

    @Test("An operator is told which commands their rights never reach")
    func told() throws {
        defer { server.stop() }
        let key = try prepare()
        for actor in [
            Operator.account(account, .all, provedAt: Self.start),
            .account(account, rights(nil, readOnly: true), provedAt: Self.start),
            .account(account, rights(["iCloud.a"]), provedAt: Self.start),
            .account(account, rights(["iCloud.a"], readOnly: true), provedAt: Self.start),
        ] {
            let answer = CommandConsole().answer(
                .list, by: Administrator(actor, on: server.folder))
            let list = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
            let commands = try #require(list?["commands"] as? [[String: Any]])
            let told = commands.filter { $0["may"] as? Bool == true }
                .compactMap { $0["name"] as? String }
            let reached = ways(serverKey: key).filter { _, ways in
                ways.contains { way in
                    (actor.rights.hasAllContainers || way.reach != .server)
                        && !(actor.rights.isReadOnly && way.changes)
                        && !(way.reach == .person && way.changes)
                }
            }
            #expect(told.sorted() == reached.keys.sorted(), "\(actor)")
        }
    }

    @Test("Who has some containers sees people with data there alone, and hears the same of others")
    func people() throws {
        defer { server.stop() }
        _ = try prepare()
        let actor = Operator.account(account, rights(["iCloud.a"]), provedAt: Self.start)
        let administrator = Administrator(actor, on: server.folder)
        #expect(try administrator.perform(ListAccounts()).items.map(\.email) == ["ann@a.example"])
        #expect(
            try administrator.perform(ListContainers()).items.map(\.container.id.name)
                == ["iCloud.a"])
        #expect(try administrator.perform(ListAPITokens()).items.map(\.name) == ["app", "web"])
        for email in ["bob@b.example", "none@b.example"] {
            #expect(throws: OperatorRefusal.outOfReach) {
                try administrator.perform(ShowSecondFactor(of: email))
            }
        }
        for name in ["iCloud.b", "iCloud.none"] {
            #expect(throws: OperatorRefusal.outOfReach) {
                try administrator.perform(
                    ListWebTokens(in: NamedEnvironment(name, .development)))
            }
        }
    }

    @Test("What an action does not declare is only for who has everything and has just signed in")
    func undeclared() throws {
        defer { server.stop() }
        struct Undeclared: AdministrativeAction {
            let name = "undeclared"
            func run(in data: any ServerData, by actor: Operator) throws {}
        }
        func perform(_ actor: Operator) throws {
            try Administrator(actor, on: server.folder).perform(Undeclared())
        }
        #expect(throws: OperatorRefusal.outOfReach) {
            try perform(.account(account, rights(["iCloud.a"]), provedAt: Self.start))
        }
        #expect(throws: OperatorRefusal.proofNeeded) {
            try perform(.account(account, .all, provedAt: 0))
        }
        #expect(throws: OperatorRefusal.notByToken) { try perform(.token(name: "job", .all)) }
        try perform(.account(account, .all, provedAt: Self.start))
    }

    @Test("A look at what somebody keeps is kept for them, with the kind of operator and the app")
    func looks() throws {
        defer { server.stop() }
        _ = try prepare()
        let actor = Operator.account(account, .all, provedAt: Self.start)
        let body = Self.located(["email": "ann@a.example"])
        #expect(try ask("web-token create", body, as: actor) == nil)
        let catalog = server.folder.accountUseCases.catalog
        let ann = try server.folder.users.find(email: "ann@a.example").id
        #expect(
            try catalog.looks(at: ann, limit: 9) == [
                OperatorLook(
                    account: ann, time: Self.start, by: .account, action: "web-token create",
                    container: ContainerID("iCloud.a"))
            ])
        let noted = try server.folder.auditPage(
            before: nil, since: .min, prefix: "", limit: 1
        ).entries
        #expect(noted.map(\.who) == ["operator \(account.text)"])
    }
}
