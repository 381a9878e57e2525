import Administration
import CloudModel
import Foundation
import Synchronization
import Testing

@testable import Commands
@testable import Server

@Suite("How far a check has come")
struct CheckProgressTests {
    private let temporary: TemporaryFolder
    private let server: FolderServer

    init() throws {
        temporary = try TemporaryFolder()
        server = try FolderServer(data: temporary.path("data"))
    }

    private var local: Administrator {
        Administrator(.commandLine(userNumber: 0), on: server.folder)
    }

    private func prepare() throws {
        for name in ["iCloud.a", "iCloud.b"] {
            _ = try local.perform(CreateContainer(name))
            _ = try local.perform(
                ListDatabaseZones(
                    in: OperatedDatabase(NamedEnvironment(name, .development), .public)))
        }
    }

    @Test("It names each part of each store once in turn, and never goes back")
    func parts() throws {
        defer { server.stop() }
        try prepare()
        let lines = Mutex<[String]>([])
        let outcome = try local.perform(
            CheckData { line in
                lines.withLock { $0.append(line) }
                return true
            })
        #expect(outcome.problems.isEmpty)
        let told = lines.withLock { $0 }
        let shares = told.compactMap { Int($0.prefix { $0 != " " }) }
        #expect(shares == shares.sorted() && shares.count == told.count)
        #expect(shares.allSatisfy { (0..<100).contains($0) })
        func part(_ line: String) -> String { String(line.drop { $0 != "%" }.dropFirst(2)) }
        let parts = told.map(part).reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
        #expect(
            parts == ["the catalog"]
                + ["iCloud.a", "iCloud.b"].flatMap {
                    ["\($0) development, records", "\($0) development, files"]
                }
                + ["iCloud.a", "iCloud.b"].map { "\($0) development, checksums of files" })
    }

    @Test("A check for which nobody waits ends")
    func abandoned() throws {
        defer { server.stop() }
        try prepare()
        let count = Mutex(0)
        #expect(throws: CheckProgress.Abandoned.self) {
            try local.perform(
                CheckData { _ in
                    count.withLock {
                        $0 += 1
                        return $0 < 3
                    }
                })
        }
        #expect(count.withLock { $0 } == 3)
    }

    @Test(
        "A part tells how much of it is done, and more parts than were expected are no more than all"
    )
    func share() throws {
        let lines = Mutex<[String]>([])
        let progress = CheckProgress { line in
            lines.withLock { $0.append(line) }
            return true
        }
        progress.expect(parts: 2)
        try progress.begin("one")
        try progress.advance(1, of: 4)
        try progress.begin("two")
        try progress.advance(3, of: 2)
        try progress.begin("three")
        try progress.advance(0, of: 0)
        #expect(
            lines.withLock { $0 } == [
                "0 % one", "12 % one", "50 % two", "100 % two", "66 % three", "66 % three",
            ])
    }
}
