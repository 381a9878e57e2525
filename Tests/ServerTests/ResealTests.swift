import Accounts
import Administration
import ChildProcesses
import CloudModel
import Configuration
import Cryptography
import Delivery
import Foundation
import Storage
import Testing

@testable import Server

@Suite("Sealing secrets anew after a change of the key")
struct ResealTests {
    private static let factors = 150
    private let temporary: TemporaryFolder
    private let previous: String
    private let new = String(repeating: "5c", count: 32)
    private var data: String { temporary.path("data") }
    private var keyFile: String { "\(data)/secrets.key" }
    private let secret = [UInt8](repeating: 9, count: 20)

    init() throws {
        temporary = try TemporaryFolder()
        let data = temporary.path("data")
        try DataFolder.make(data)
        let folder = try Self.open(data)
        defer { folder.close() }
        let container = try folder.containers.create("iCloud.a", now: 1).id
        for number in 0..<Self.factors {
            let user = try folder.users.create(email: "u\(number)@a.example", now: 1)
            try folder.catalog.set(
                SecondFactor(
                    account: user.id,
                    secret: folder.secrets.seal(secret, for: SecondFactors.subject(user.id)),
                    lastStep: 0, recovery: [], madeAt: 1))
        }
        _ = try folder.accountUseCases.identityProviders.add(
            name: "Id", issuer: "https://id.example", client: "c", secret: Array("s3cret".utf8),
            signingKey: nil, trustsEmail: false, usesFormPost: false, now: 1)
        try folder.pushKeys.add(
            P256PrivateKey().pem, keyID: "ABCDEFGHIJ", teamID: "ABCDEFGHIJ", topic: "org.example.a",
            to: container, now: 1)
        _ = try folder.pushKeys.ownKey()
        _ = try Administrator(.commandLine(userNumber: 0), on: folder).perform(
            AddWebhook(
                "https://hooks.example/", to: NamedEnvironment("iCloud.a", .development),
                as: "first"))
        previous = try String(contentsOfFile: "\(data)/secrets.key", encoding: .utf8)
            .trimmingCharacters(in: .newlines)
    }

    private static func open(_ data: String) throws -> DataFolder {
        var configuration = ServerConfiguration()
        configuration.listen = ["127.0.0.1:0"]
        configuration.storage.reserveBytes = 0
        return try #require(
            try DataFolder.open(data, configuration: configuration, process: .ofProcess()) {
                Issue.record("commit of unknown outcome: \($0)")
            })
    }

    private func write(_ keys: String...) throws {
        try keys.map { "\($0)\n" }.joined().write(
            toFile: keyFile, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: keyFile)
    }

    private func reseal() throws -> Program.Outcome {
        try Program.run(["secrets", "reseal", "--json", "--data", data])
    }

    private func numbers(_ outcome: Program.Outcome) -> [Int?] {
        #expect(outcome.status == 0, "\(outcome.error)")
        return ["resealed", "current", "unreadable"].map { outcome.object[$0] as? Int }
    }

    /// Everything that is sealed opens, and is what it was.
    private func requireWhole() throws {
        let folder = try Self.open(data)
        defer { folder.close() }
        var count = 0
        for user in try folder.users.list().items {
            let sealed = try #require(try folder.catalog.secondFactor(of: user.id)).secret
            #expect(
                try folder.secrets.open(sealed, for: SecondFactors.subject(user.id)) == secret)
            count += 1
        }
        #expect(count == Self.factors)
        let provider = try #require(try folder.catalog.identityProviders().first)
        let opened = try folder.secrets.open(
            provider.secret ?? [], for: IdentityProviders.subject(provider.issuer))
        #expect(opened == Array("s3cret".utf8))
        let container = try folder.containers.find("iCloud.a").id
        #expect(folder.pushKeys.key(of: container, topic: "org.example.a") != nil)
        let store = try folder.store(of: container, in: .development)
        let webhook = try #require(try store.read { try $0.destinations(ofKind: .webhook).first })
        let address = try #require(WebhookAddress(bytes: webhook.address))
        let key = try folder.secrets.open(
            address.sealedKey, for: WebhookAddress.subject(container, .development))
        #expect(key.count == 32)
    }

    private func ownPublicKey() throws -> String {
        let folder = try Self.open(data)
        defer { folder.close() }
        return try folder.pushKeys.ownPublicKey()
    }

    @Test("All that is sealed goes under the first key, and the former one can leave the file")
    func all() throws {
        let own = try ownPublicKey()
        try write(new, previous)
        #expect(numbers(try reseal()) == [Self.factors + 4, 0, 0])
        #expect(numbers(try reseal()) == [0, Self.factors + 4, 0])
        try write(new)
        try requireWhole()
        #expect(try ownPublicKey() == own)
        let listed = try Program.run(["audit", "list", "--json", "--data", data])
        let entries = listed.object["entries"] as? [[String: Any]] ?? []
        #expect(entries.map { $0["what"] as? String } == ["secrets reseal", "secrets reseal"])
    }

    @Test("What none of the keys opens is said, and stays")
    func unreadable() throws {
        let other = String(repeating: "ab", count: 32)
        try write(other)
        try FileManager.default.removeItem(atPath: "\(data)/sealed-by")
        #expect(numbers(try reseal()) == [0, 0, Self.factors + 4])
        try write(other, previous)
        #expect(numbers(try reseal()) == [Self.factors + 4, 0, 0])
    }

    @Test("A running server that has other keys than the file is not told to seal by them")
    func changed() throws {
        let server = try ServerProcess(data: data)
        try write(new, previous)
        let refused = try server.command("secrets", "reseal")
        #expect(refused.status == 1 && refused.error.contains("restart the server first"))
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let again = try ServerProcess(data: data)
        // The server's own key is sealed by the previous one, too.
        #expect(numbers(try again.command("secrets", "reseal", "--json"))[0] == Self.factors + 4)
        again.signal(SIGTERM)
        #expect(again.wait() == 0)
        try write(new)
        try requireWhole()
    }

    @Test("Killed in the middle, it has lost nothing and goes on with the next call")
    func killed() throws {
        try write(new, previous)
        for _ in 0..<3 {
            let process = ChildProcess()
            process.executableURL = Program.url
            process.arguments = ["secrets", "reseal", "--data", data]
            let noted = try size(of: "\(data)/audit.log")
            try process.run()
            // It is noted just before it begins.
            let end = Date(timeIntervalSinceNow: 60)
            while try size(of: "\(data)/audit.log") == noted, Date() < end { usleep(500) }
            process.signal(SIGKILL)
            process.waitUntilExit()
            try requireWhole()
        }
        let last = numbers(try reseal())
        #expect((last[0] ?? 0) + (last[1] ?? 0) == Self.factors + 4 && last[2] == 0)
        try write(new)
        try requireWhole()
    }

    private func size(of path: String) throws -> Int {
        let found = try? FileManager.default.attributesOfItem(atPath: path)[.size]
        return found as? Int ?? 0
    }
}
