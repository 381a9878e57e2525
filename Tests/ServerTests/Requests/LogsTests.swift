import Administration
import CloudModel
import Foundation
import RequestRecords
import Synchronization
import Testing
import WebServices

@testable import Commands
@testable import Server

@Suite("Lines of requests, as operators see them")
struct LogsTests {
    private let operators = Operator.commandLine(userNumber: 1)

    private func lines(
        of home: SyncHome, limit: Int = 100,
        _ select: (inout ListRequests.Selection) -> Void = { _ in }
    ) throws -> [RequestEntry] {
        var selection = ListRequests.Selection()
        select(&selection)
        let administrator = Administrator(operators, on: home.folder)
        return try administrator.perform(ListRequests(selection, .init(limit: limit))).entries
    }

    @Test("A line tells who asked for what, how it ended, and how far the tokens were")
    func lines() throws {
        let home = try SyncHome()
        try home.makeZone("ann")
        let tag = try home.save("ann", "secret-name", kind: "create").tag
        let token = try home.fetch("ann", nil).token
        try home.save("ann", "secret-name", tag: tag)
        try home.save("ann", "secret-name", tag: tag)
        try home.fetch("ann", token)
        try home.save("bob", "x", kind: "create")
        let found = try lines(of: home) { $0.email = "ann@a.example" }
        #expect(
            found.map(\.operation) == [
                "zones/modify", "records/modify", "changes/zone", "records/modify",
                "records/modify", "changes/zone",
            ])
        let first = try #require(found.first { $0.operation == "changes/zone" })
        let last = try #require(found.last)
        #expect(first.zone?.from == nil && first.zone?.name == "z" && first.records == 1)
        #expect(last.zone?.from == first.zone?.to && last.zone?.to ?? 0 > last.zone?.from ?? 0)
        #expect(last.device == "anns-phone" && last.session?.count == 32)
        #expect(last.container == "iCloud.a" && last.database == .private)
        #expect(last.bytesIn > 20 && last.bytesOut > 20 && last.id.count == 16)
        let failed = found[4]
        #expect(failed.failures.map(\.code) == ["CONFLICT"] && failed.items == 1)
        #expect(failed.failures.first?.records.count == 1 && failed.records == 0)
        #expect(failed.microseconds.committing > 0 && failed.status == 200)
        #expect(try lines(of: home) { $0.code = "CONFLICT" } == [failed])
        #expect(try lines(of: home) { $0.operation = "changes/zone" } == [first, last])
        #expect(try lines(of: home, limit: 2).map(\.user).last != last.user)
        let text = try Self.bytes(below: home.temporary.path("data/requests"))
        #expect(text.contains("anns-phone"))
        #expect(!text.contains("secret-name") && !text.contains(home.apiToken))
    }

    private static func bytes(below path: String) throws -> String {
        try FileManager.default.contentsOfDirectory(atPath: path).map {
            String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\($0)")), as: UTF8.self)
        }.joined()
    }

    @Test("An export has a person's lines, and their erasure overwrites them")
    func exportAndErasure() throws {
        let home = try SyncHome()
        try home.makeZone("ann")
        try home.fetch("ann", nil)
        try home.folder.apiTokens.revoke(name: home.apiTokenName)
        #expect(try home.fetch("ann", nil).code == "AUTHENTICATION_FAILED")
        let administrator = Administrator(operators, on: home.folder)
        var archive: [UInt8] = []
        _ = try administrator.perform(ExportAccount("ann@a.example") { archive += $0 })
        #expect(String(decoding: archive, as: UTF8.self).contains("requests.jsonl"))
        let name = try home.userRecordName("ann")
        let folder = home.temporary.path("data/requests")
        #expect(try Self.bytes(below: folder).contains(name))
        let erased = try administrator.perform(
            EraseAccount("ann@a.example", publicRecords: .delete))
        #expect(erased.left.isEmpty)
        let text = try Self.bytes(below: folder)
        #expect(!text.contains(name) && !text.contains("anns-phone"))
        #expect(try lines(of: home).isEmpty)
    }

    @Test("A flood without credentials drives no lines out, and those of users are all kept")
    func flood() throws {
        let temporary = try TemporaryFolder()
        let ring = try RequestRing(
            temporary.path("ring"), .init(bytesMax: 1 << 20, daysMax: 14))
        let keeper = RequestKeeper(ring, clock: Clock { 1_800_000_000_000 }) { error in
            Issue.record("\(error)")
        }
        let user = try #require(UserRecordName("_0123456789abcdef0123456789abcdef"))
        for number in 0..<5_000 {
            keeper.keep(RequestObservation(requestID: "anonymous", status: 401))
            if number % 100 == 0 {
                keeper.keep(
                    RequestObservation(requestID: "u", userRecordName: user, status: 200))
            }
        }
        keeper.flush()
        var (anonymous, known) = (0, 0)
        ring.newest(RequestFilter()) { _, entry in
            if entry.user == nil { anonymous += 1 } else { known += 1 }
            return true
        }
        #expect(anonymous == 100 && known == 50)
        #expect(keeper.lostCount == 0)
    }

    @Test("Lines that a database does not take wait for it, and the failure is reported once")
    func waiting() throws {
        for waits in [true, false] {
            let storage = RefusingStorage(storesAllOrNone: waits)
            let reports = Mutex(0)
            let keeper = RequestKeeper(storage, clock: Clock { 1_800_000_000_000 }) { _ in
                reports.withLock { $0 += 1 }
            }
            for _ in 0..<3 { keeper.keep(RequestObservation(requestID: "r", status: 200)) }
            keeper.flush()
            keeper.keep(RequestObservation(requestID: "r", status: 200))
            keeper.flush()
            #expect(storage.lineCount == 0 && reports.withLock { $0 } == 1)
            storage.accept()
            keeper.keep(RequestObservation(requestID: "r", status: 200))
            keeper.flush()
            #expect(storage.lineCount == (waits ? 5 : 1))
            #expect(keeper.lostCount == (waits ? 0 : 4))
        }
    }

    @Test("Requests that differ in one thing have lines that differ in it, however they take turns")
    func heads() throws {
        let temporary = try TemporaryFolder()
        let ring = try RequestRing(
            temporary.path("ring"), .init(bytesMax: 1 << 20, daysMax: 14))
        let keeper = RequestKeeper(ring, clock: Clock { 1_800_000_000_000 }) { error in
            Issue.record("\(error)")
        }
        let user = try #require(UserRecordName("_0123456789abcdef0123456789abcdef"))
        let other = try #require(UserRecordName("_0123456789abcdef0123456789abcdee"))
        let zone = ZoneID(name: try #require(ZoneName("z")))
        func request(_ change: (inout RequestObservation) -> Void) -> RequestObservation {
            var request = RequestObservation(
                requestID: "r", operation: "records/lookup", container: "iCloud.a",
                userRecordName: user, status: 200)
            request.session = Array(repeating: 7, count: 16)
            request.work = RequestWork(items: 1, in: zone)
            change(&request)
            return request
        }
        let changes: [(inout RequestObservation) -> Void] = [
            { _ in }, { $0.operation = "changes/lookup" }, { $0.container = "iCloud.b" },
            { $0.userRecordName = other }, { $0.session?[15] = 8 }, { $0.session = nil },
            { $0.keyID = "key" }, { $0.work = RequestWork(items: 1) },
            { $0.work = RequestWork(items: 1, in: ZoneID(name: zone.name, owner: other)) },
            { $0.work = RequestWork(items: 1, in: .defaultZone) },
            { $0.code = .notFound }, { ($0.code, $0.reason) = (.notFound, "zone") },
        ]
        let requests = changes.map { request($0) }
        for _ in 0..<3 {
            for request in requests + requests.reversed() { keeper.keep(request) }
            keeper.flush()
        }
        var found: [RequestEntry] = []
        ring.newest(RequestFilter()) { _, entry in
            found.append(entry)
            return true
        }
        let turn = requests + requests.reversed()
        try #require(found.count == 3 * turn.count)
        for (entry, request) in zip(found.reversed(), turn + turn + turn) {
            let session = request.session.map {
                $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            }
            #expect(entry.operation == request.operation && entry.session == session)
            #expect(entry.container == request.container && entry.keyID == request.keyID)
            #expect(entry.user == request.userRecordName?.text)
            #expect(entry.zone?.name == request.work.zone?.zone.name.text)
            #expect(entry.zone?.owner == request.work.zone?.zone.owner?.text)
            #expect(entry.code == request.code?.rawValue && entry.reason == request.reason)
        }
    }

    @Test("Where nothing is to be kept, nothing is, and the commands say so")
    func off() throws {
        let home = try SyncHome { $0.requests.bytesMax = 0 }
        try home.makeZone("ann")
        #expect(throws: RequestsRefusal.nothingIsKept) { try lines(of: home) }
        #expect(throws: RequestsRefusal.nothingIsKept) { try home.report("ann") }
        #expect(!FileManager.default.fileExists(atPath: home.temporary.path("data/requests")))
    }

    @Test("The program prints lines, one object with --json, and goes on with what comes")
    func program() throws {
        let temporary = try TemporaryFolder()
        let server = try ServerProcess(data: temporary.path("data"))
        _ = try server.request("/database/1/iCloud.none/development/public/records/query", [])
        let text = try server.command("logs")
        #expect(text.status == 0 && text.output.contains("BAD_REQUEST"), "\(text)")
        let json = try server.command("logs", "--json", "--error", "bad_request")
        #expect(json.output.contains("\"requests\":[{\"time\":"), "\(json)")
        #expect(try server.command("logs", "--error", "NONE").status == 2)
        server.signal(SIGTERM)
        _ = server.wait()
    }
}

/// Takes no lines until it is told to.
private final class RefusingStorage: RequestStorage {
    struct Away: Error {}

    let storesAllOrNone: Bool
    private let state = Mutex((refuses: true, lineCount: 0))

    init(storesAllOrNone: Bool) { self.storesAllOrNone = storesAllOrNone }

    func accept() { state.withLock { $0.refuses = false } }

    var lineCount: Int { state.withLock { $0.lineCount } }

    func append(_ lines: WaitingLines, now: Milliseconds) throws {
        try state.withLock { state in
            guard !state.refuses else { throw Away() }
            state.lineCount += lines.count
        }
    }

    func newest(
        _ filter: RequestFilter, _ body: (RequestLocation, RequestEntry) throws -> Bool
    ) throws {}

    func erase(_ users: Set<String>) throws -> Int { 0 }

    var byteCount: Int { 0 }
}
