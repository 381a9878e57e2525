import ChildProcesses
import Foundation
import Seeding

/// Ends a server under load, again and again, and checks after each restart what it promised.
final class CrashRun: @unchecked Sendable {
    // Unchecked: one thread drives it; writers and followers have a thread each while they work.

    /// What a run did.
    struct Report: CustomStringConvertible {
        var rounds = 0
        var writes = 0
        var unanswered = 0
        var pages = 0
        /// Rounds that a fault of the disk ended.
        var faults = 0
        var diskFull = 0
        /// Tokens of zones that were made anew.
        var expiries = 0
        var violations: [Violation] = []

        var description: String {
            "\(rounds) rounds, \(writes) writes, \(unanswered) of them unanswered, \(pages) pages, "
                + "\(expiries) expired tokens, \(faults) faults, "
                + "\(diskFull) refusals by a full disk, "
                + "\(violations.count) violations"
        }
    }

    /// How a round ends.
    enum Ending {
        /// By SIGKILL, now and then by SIGTERM.
        case kill
        /// By SIGKILL, after a system call had failed without ending it.
        case survivedFault(SystemCallFault)
        /// By itself, with status 74, because a system call of a commit failed.
        case fatalFault(SystemCallFault)

        var fault: SystemCallFault? {
            switch self {
            case .kill: nil
            case .survivedFault(let fault), .fatalFault(let fault): fault
            }
        }
    }

    /// A run that could not go on.
    struct Stopped: Error { let why: String }

    private static let writersPerUser = [4, 2]
    private static let fields = [
        CrashWriter.Field(zones: [("Hot", 10), ("Warm", 90)], fleeting: "Fleeting"),
        CrashWriter.Field(zones: [("Hot", 10)], fleeting: "Fleeting"),
    ]

    private let data: String
    private let access: DatabaseClient.Access
    private let endings: [Ending]
    private var random: SeededRandom
    private var writers: [CrashWriter] = []
    private var followers: [(follower: ZoneFollower, sleeps: Bool)] = []
    private var syncers: [DatabaseFollower] = []
    private var ledger = Ledger()
    private var life = Life(number: 0)
    private var report = Report()

    /// - Parameter endings: one for each round.
    init(data: String, endings: [Ending], seed: UInt64) throws {
        self.data = data
        self.endings = endings
        random = SeededRandom(seed: seed)
        access = try CrashRun.access(data)
        for (user, count) in Self.writersPerUser.enumerated() {
            for _ in 0..<count {
                writers.append(
                    CrashWriter(
                        user: user, number: writers.count, field: Self.fields[user],
                        random: SeededRandom(seed: seed, stream: writers.count)))
            }
        }
        makeFollowers(seed)
    }

    private func makeFollowers(_ seed: UInt64) {
        let kinds = [
            ("Hot", "follower", false, false), ("Hot", "turner", true, false),
            ("Warm", "follower", false, false), ("Warm", "sleeper", true, true),
            ("Fleeting", "follower", false, false), ("Fleeting", "sleeper", false, true),
        ]
        for (index, (zone, name, mayTurn, sleeps)) in kinds.enumerated() {
            let follower = ZoneFollower(
                UserZone(user: 0, zone: zone), name: name, mayTurn: mayTurn,
                random: SeededRandom(seed: seed, stream: 100 + index))
            followers.append((follower, sleeps))
        }
        for user in 0..<2 {
            syncers.append(
                DatabaseFollower(
                    user: user, name: "syncer",
                    random: SeededRandom(seed: seed, stream: 200 + user)))
        }
    }

    /// Makes a container with two users.
    static func access(_ data: String) throws -> DatabaseClient.Access {
        func run(_ arguments: String...) throws -> [String: Any] {
            let outcome = try Program.run(arguments + ["--data", data, "--json"])
            guard outcome.status == 0 else { throw Stopped(why: outcome.error) }
            return outcome.object
        }
        let container = "iCloud.crash"
        try ServerProcess.makeData(data)
        _ = try run("container", "create", container)
        let token = try run("api-token", "create", container, "development")
        var webTokens: [String] = []
        for email in ["alice@example.com", "bob@example.com"] {
            _ = try run("user", "create", email)
            let made = try run(
                "web-token", "create", container, "development", email, "--expires", "86400")
            webTokens.append(made["webAuthToken"] as? String ?? "")
        }
        return DatabaseClient.Access(
            container: container, apiToken: token["apiToken"] as? String ?? "",
            webTokens: webTokens)
    }

    // MARK: - Rounds

    /// Runs every round; the violations that it found, and what it did.
    func run() throws -> Report {
        var server = try start()
        life = Life(number: 1)
        for writer in writers {
            guard let noted = writer.makeZones(client(of: server, writer.user)) else {
                throw Stopped(why: "no zones: \(writer.lost?.why ?? "")")
            }
            life.add(noted)
        }
        for (round, ending) in zip(1..., endings) {
            try load(server, until: ending)
            server = try restart()
            try settle(server)
            report.rounds = round
            if round % 10 == 0 || round == endings.count { try checkStore("round \(round)") }
            if report.violations.count > 20 { break }
        }
        server.signal(SIGTERM)
        _ = server.wait()
        try checkStore("the end")
        return report
    }

    private func client(of server: ServerProcess, _ user: Int) -> DatabaseClient {
        DatabaseClient(address: server.address, access: access, user: user)
    }

    /// Lets everybody work for a moment and ends the server in the midst of it.
    private func load(_ server: ServerProcess, until ending: Ending) throws {
        let tracer = try ending.fault.map { try FaultTracer($0, on: server.identifier) }
        let done = DispatchGroup()
        let notes = Notes()
        for writer in writers {
            // Here, and not by the writer itself: it may get its turn only after the kill.
            writer.forgetLoss()
            if random.once(in: 2) { writer.learn(life.initial) }
            let client = UncheckedBox(client(of: server, writer.user))
            work(done) { writer.run(client.value) }
        }
        for (follower, sleeps) in followers where !sleeps {
            let client = UncheckedBox(client(of: server, 0))
            work(done) {
                var noted = Life(number: 0)
                while true {
                    let step = follower.step(client.value, &noted)
                    if case .lost = step { break }
                    if case .page(moreComing: true) = step { continue }
                    // As often as this the writers get on with their work, too.
                    Thread.sleep(forTimeInterval: 0.002)
                }
                notes.add(noted)
            }
        }
        for syncer in syncers {
            let client = UncheckedBox(client(of: server, syncer.user))
            work(done) {
                var noted = Life(number: 0)
                while syncer.catchUp(client.value, &noted) { Thread.sleep(forTimeInterval: 0.002) }
                notes.add(noted)
            }
        }
        var killed: UInt64?
        switch ending {
        case .kill: killed = kill(server)
        case .survivedFault: surviveFault(server, tracer)
        case .fatalFault: awaitFault(server)
        }
        done.wait()
        if let killed { noteLosses(before: killed) }
        tracer?.wait()
        life.add(notes.noted)
        for writer in writers { life.add(writer.noted) }
    }

    /// Kills the server at a moment of the seed's choosing; now and then it may leave in order.
    ///
    /// - Returns: when.
    private func kill(_ server: ServerProcess) -> UInt64 {
        Thread.sleep(
            forTimeInterval: Double(5 + random.below(random.once(in: 4) ? 900 : 250)) / 1e3)
        let isOrderly = random.once(in: 12)
        let at = DatabaseClient.now
        server.signal(isOrderly ? SIGTERM : SIGKILL)
        let status = server.wait()
        if status != (isOrderly ? 0 : -SIGKILL) {
            life.oddities.append("the server ended with \(status)")
        }
        return at
    }

    /// Notes the connections that broke off by themselves; the writers are at rest.
    private func noteLosses(before killed: UInt64) {
        for writer in writers {
            if let lost = writer.lost, lost.at < killed {
                life.oddities.append("a connection was lost before the kill: \(lost.why)")
            }
        }
    }

    /// Lets a fault happen and the server get over it, which takes it a second when its disk is full.
    private func surviveFault(_ server: ServerProcess, _ tracer: FaultTracer?) {
        Thread.sleep(forTimeInterval: 1)
        let probe = client(of: server, 0)
        let deadline = DatabaseClient.now + 120_000_000_000
        while probe.get("/readyz") != 200 {
            Thread.sleep(forTimeInterval: 0.02)
            if DatabaseClient.now > deadline {
                life.oddities.append("not ready 120 s after \(tracer?.description ?? "")")
                break
            }
        }
        server.signal(SIGKILL)
        if server.wait() == -SIGKILL { return }
        life.oddities.append("the server did not survive \(tracer?.description ?? "")")
    }

    /// Waits for the server to end itself; a fault that is never reached ends with a kill.
    private func awaitFault(_ server: ServerProcess) {
        let deadline = DispatchWorkItem { server.signal(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 4, execute: deadline)
        let status = server.wait()
        deadline.cancel()
        if status == 74 { report.faults += 1 }
        if status != 74 && status != -SIGKILL {
            life.oddities.append("the server ended with \(status) on a failed commit")
        }
    }

    private func work(_ group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        Thread.detachNewThread {
            body()
            group.leave()
        }
    }

    /// Starts the server anew; at times the first start is killed too.
    private func restart() throws -> ServerProcess {
        while random.once(in: 6) {
            try ServerProcess.startAndKill(data: data, afterMilliseconds: random.below(60))
        }
        return try start()
    }

    /// Starts a server, every other time with a log that is moved into the file all the time.
    private func start() throws -> ServerProcess {
        // The log is no longer than half of the reserve, and is moved at half of that.
        let often = ["LENTICULAR_STORAGE_RESERVE_BYTES": "\(4 * 100 * 4_096)"]
        return try ServerProcess(data: data, environment: random.once(in: 2) ? often : [:])
    }

    // MARK: - After a restart

    /// Reads everything while nobody writes, lets followers catch up, and judges the life that ended.
    private func settle(_ server: ServerProcess) throws {
        for user in Self.fields.indices {
            life.final.merge(try state(client(of: server, user), user)) { $1 }
        }
        let locations = life.final
        for (follower, sleeps) in followers where !sleeps || random.once(in: 4) {
            guard follower.catchUp(client(of: server, follower.location.user), &life) else {
                throw Stopped(why: "\(follower.name): \(life.oddities.last ?? "lost")")
            }
            life.replicas.append((follower.name, follower.location, follower.records))
            if random.once(in: 40) { follower.forget() }
        }
        for syncer in syncers {
            guard syncer.catchUp(client(of: server, syncer.user), &life) else {
                throw Stopped(why: "\(syncer.name): \(life.oddities.last ?? "lost")")
            }
            life.zoneReplicas.append((syncer.name, syncer.user, syncer.zoneNames))
            for (location, records) in syncer.replicas {
                life.replicas.append((syncer.name, location, records))
            }
        }
        report.writes += life.writes.count
        report.unanswered += life.writes.count { $0.span.ended == .max }
        report.pages += life.pages.count
        report.expiries += life.expiries.count
        report.diskFull += life.writes.count { $0.operations.contains(where: \.isDiskFull) }
        var check = LifeCheck(life, ledger)
        report.violations += check.run()
        ledger = check.ledger
        life = Life(number: life.number + 1)
        life.initial = locations
    }

    /// A fresh client's view of a user's zones, by the feed and by name.
    private func state(_ client: DatabaseClient, _ user: Int) throws -> [UserZone: ZoneState] {
        let listed = client.zones()
        guard case .success(let zones) = listed else { throw Stopped(why: "zones/list: \(listed)") }
        var states: [UserZone: ZoneState] = [:]
        for zone in zones {
            let location = UserZone(user: user, zone: zone)
            let state = try state(client, location)
            states[location] = state
            try compareWithLookups(state, location, client)
        }
        return states
    }

    private func state(_ client: DatabaseClient, _ location: UserZone) throws -> ZoneState {
        var records: [String: RecordVersion] = [:]
        var token: FeedToken?
        while true {
            let reply = client.changes(
                location.zone, after: token?.text, limit: 200, newestFirst: false)
            guard case .success(let page) = reply else {
                throw Stopped(why: "changes/zone of \(location): \(reply)")
            }
            for (name, version) in page.records {
                if version == nil {
                    life.oddities.append("a deletion of \(name) in a first fetch of \(location)")
                }
                records[name] = version
            }
            token = page.token
            if !page.moreComing { break }
        }
        return ZoneState(
            number: token?.zone ?? 0, position: token?.position ?? 0, records: records)
    }

    private func compareWithLookups(
        _ state: ZoneState, _ location: UserZone, _ client: DatabaseClient
    ) throws {
        let touched = life.writes.filter { $0.location == location }.flatMap(\.operations).map(
            \.name)
        let names = Set(touched).union(state.records.keys)
        for start in stride(from: 0, to: names.count, by: 200) {
            let piece = Array(names.sorted()[start..<min(start + 200, names.count)])
            let reply = client.lookup(location.zone, piece)
            guard case .success(let versions) = reply else {
                throw Stopped(why: "records/lookup in \(location): \(reply)")
            }
            for (name, version) in zip(piece, versions) where version != state.records[name] {
                life.oddities.append(
                    "\(name) of \(location) is \(state.records[name]?.description ?? "missing") in "
                        + "the feed and \(version?.description ?? "missing") when looked up")
            }
        }
    }

    /// The operator's own check, through the running server or on the folder at rest.
    private func checkStore(_ when: String) throws {
        let outcome = try Program.run(["check", "--json", "--data", data])
        guard outcome.status != 0 || outcome.object["ok"] as? Bool != true else { return }
        report.violations.append(
            Violation(
                kind: .oddAnswer, life: life.number,
                text: "check after \(when): \(outcome.status) \(outcome.output)\(outcome.error)"))
    }

    /// What followers noted, each on its thread.
    private final class Notes: @unchecked Sendable {
        // Unchecked: everything is touched under the lock only.
        private let lock = NSLock()
        private var all = Life(number: 0)

        func add(_ noted: Life) { lock.withLock { all.add(noted) } }

        var noted: Life { lock.withLock { all } }
    }

    /// Hands a client to the one thread that uses it.
    private struct UncheckedBox<Value>: @unchecked Sendable {
        // Unchecked: see above.
        let value: Value

        init(_ value: Value) { self.value = value }
    }
}

extension ServerProcess {
    /// Starts a server and kills it while it may still be starting.
    static func startAndKill(data: String, afterMilliseconds milliseconds: Int) throws {
        let process = ChildProcess()
        process.executableURL = Program.url
        process.arguments = ["serve", "--data", data, "--listen", "127.0.0.1:0"]
        process.environment = try Program.cleanEnvironment.merging(DataEnvironment.of(data)) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        Thread.sleep(forTimeInterval: Double(milliseconds) / 1_000)
        process.signal(SIGKILL)
        process.waitUntilExit()
    }
}
