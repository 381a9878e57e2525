import Accounts
import CloudDatabase
import CloudModel
import Foundation
import Seeding
import SharingModel
import Storage
import Testing

/// The server of these tests as the sharing model's driver talks to it.
final class SharingWireServer: SharingWire {
    /// Records of trees that one step of the work on them takes.
    static let stepRecords = 3

    let server: WireServer
    /// Whose store it is.
    private let first: WireServer
    /// Holds that work back; nil when it goes on by itself.
    private let held: HeldStorage?
    private var clients: [Int: WireClient] = [:]

    /// - Parameters:
    ///   - isBesideWriter: whether batches are decided on snapshots.
    ///   - descendantsReadMax: how far down shares are looked for, before they are looked for upwards.
    init(
        holdsWork: Bool = false, isBesideWriter: Bool = false, descendantsReadMax: Int = 1_000
    ) throws {
        first = try WireServer {
            if isBesideWriter { $0.writerMillisecondsMax = 0 }
            $0.descendantsReadMax = descendantsReadMax
            $0.accessRequestsPerDayMax = .max
        }
        let store = try first.store()
        _ = try ImportSchema(
            SchemaLanguage.parse(Array(SharingRun.schema.utf8)), into: store,
            production: first.store(WireServer.tea, .production), limits: first.limits
        ).run(by: "the test")
        held = holdsWork ? HeldStorage(store) : nil
        guard let held else {
            server = first
            return
        }
        server = try WireServer(storage: held) {
            if isBesideWriter { $0.writerMillisecondsMax = 0 }
            $0.descendantsReadMax = descendantsReadMax
            $0.shareStepRecordsMax = Self.stepRecords
            // Nothing is waited for that only a step of work brings.
            ($0.sharedPageHoldMilliseconds, $0.indexWaitMilliseconds) = (0, 0)
            $0.accessRequestsPerDayMax = .max
        }
    }

    func problems() throws -> [String] { try first.problems() }

    func send(_ user: Int, _ path: String, _ body: String) throws -> SharingAnswer {
        guard let client = clients[user] else { throw WireFailure("no user \(user)") }
        let answer = try client.send(path, body)
        return try SharingAnswer(status: answer.status, bytes: Array(answer.text.utf8))
    }

    func makeAccount(_ person: SharingPerson) throws -> String {
        _ = try Users(catalog: server.catalog).create(
            email: person.email, givenName: person.givenName, familyName: "Roe",
            now: server.clock.now)
        let name = String(person.email.prefix { $0 != "@" })
        let client = try server.user(name, seconds: 31_000_000)
        clients[person.index] = client
        return client.name
    }

    func verify(_ handle: ModelledSharing.Handle, of person: SharingPerson) throws {
        guard case .email(let address) = handle else {
            guard case .phone(let address) = handle else { return }
            return try verify(address, person)
        }
        try verify(address, person)
    }

    private func verify(_ address: String, _ person: SharingPerson) throws {
        _ = try Users(catalog: server.catalog).verify(
            email: person.email, address: address, now: server.clock.now)
    }

    func doWork() throws -> Bool { try held?.doStep() ?? false }

    func passTime() {
        first.clock.advance(61_000)
        if held != nil { server.clock.advance(61_000) }
    }

    func finishTelling() throws {
        guard let held else { return try first.finishTelling() }
        while try first.hasToTell(), try held.doStep() {}
    }
}

@Suite("Sharing and its model, side by side")
struct SharingTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// LENTICULAR_STEPS makes it longer, LENTICULAR_SEED repeats one run.
    @Test("Nobody ever sees what they may not, and nobody misses what they may")
    func random() throws {
        let steps = Self.environment["LENTICULAR_STEPS"].flatMap { Int($0) } ?? 500
        var seed =
            Self.environment["LENTICULAR_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
        print("sharing: LENTICULAR_SEED=\(seed)")
        var tally: [String: Int] = [:]
        for _ in 0..<max(1, steps / 500) {
            tally.merge(try Self.run(seed, steps: min(steps, 500))) { $0 + $1 }
            var next = SeededRandom(seed: ~seed)
            seed = next.next()
        }
        if Self.environment["LENTICULAR_TALLY"] != nil {
            for (what, count) in tally.sorted(by: { $0.key < $1.key }) { print(count, what) }
        }
    }

    /// docs/correctness.md says what each of them finds.
    @Test(
        "Runs that have found something before",
        arguments: [
            (seed: UInt64(11), steps: 500), (seed: 12, steps: 400), (seed: 14, steps: 400),
            (seed: 3_230_953, steps: 500), (seed: 10_957_955_245_735_361_746, steps: 500),
        ])
    func known(_ seed: UInt64, _ steps: Int) throws {
        _ = try Self.run(seed, steps: steps, hasTies: false, hasAsking: false)
    }

    @Test(
        "Runs that have found something before, with references",
        arguments: [
            (seed: UInt64(18_390_628_538_349_966_915), steps: 450),
            (seed: 16_255_204_643_759_472_919, steps: 400),
            (seed: 6_170_464_513_799_004_102, steps: 500),
            (seed: 2_268_231_621_542_613_866, steps: 500),
        ])
    func knownWithTies(_ seed: UInt64, _ steps: Int) throws {
        _ = try Self.run(seed, steps: steps, hasAsking: false)
    }

    /// - Returns: how often each thing came about.
    private static func run(
        _ seed: UInt64, steps: Int, hasTies: Bool = true, hasAsking: Bool = true
    ) throws -> [String: Int] {
        var options = SharingRun.Options()
        options.hasTies = hasTies
        options.hasAsking = hasAsking
        var choice = SeededRandom(seed: seed)
        options.eagerness = choice.one(of: [5, 50, 95])
        options.isHeldBack = choice.happens(50)
        let wire = try SharingWireServer(
            holdsWork: options.isHeldBack, isBesideWriter: choice.happens(50),
            descendantsReadMax: choice.one(of: [1_000, 2, 0]))
        if options.isHeldBack { options.countSpared = SharingWireServer.stepRecords }
        let run = try SharingRun(wire: wire, seed: seed, options: options)
        try run.run(steps: steps)
        #expect(try wire.problems() == [], "LENTICULAR_SEED=\(seed)")
        var tally = run.tally
        for device in run.devices { tally.merge(device.tally) { $0 + $1 } }
        return tally
    }
}
