import Dispatch
import Foundation
import Testing

@testable import Server

/// What a server's process holds after more stores than it may have open.
@Suite("Many stores")
struct ManyStoresTests {
    private static let openMax = 2
    private static let first = 0..<12
    private static let further = 12..<36
    /// What stays of a closed store is a small part of the 1.4 MB that an open one takes.
    private static let keptBytesMax = 500_000

    @Test("Each further store leaves no descriptor and little memory once it is closed")
    func rest() throws {
        #if os(Linux)
            let temporary = try TemporaryFolder()
            let data = temporary.path("data")
            let tokens = try Self.makeContainers(data, count: Self.further.upperBound)
            let server = try ServerProcess(
                data: data,
                environment: ["LENTICULAR_STORAGE_STORES_OPEN_MAX": "\(Self.openMax)"])
            defer { server.signal(SIGKILL) }
            let connection = WireConnection(address: server.address)
            func touch(_ numbers: Range<Int>) throws -> Int {
                for number in numbers {
                    let answer = connection.send(
                        "POST",
                        "/database/1/iCloud.n\(number)/development/public/records/lookup"
                            + "?ckAPIToken=\(tokens[number])",
                        #"{"records":[{"recordName":"none"}]}"#)
                    guard case .answered(200, _) = answer else {
                        Issue.record("\(number): \(answer)")
                        break
                    }
                }
                try Self.waitUntilFewAreOpen(server.identifier)
                return try Self.residentBytes(of: server.identifier)
            }
            let before = try touch(Self.first)
            let after = try touch(Self.further)
            #expect(after - before < Self.further.count * Self.keptBytesMax)
        #endif
    }

    private static func makeContainers(_ data: String, count: Int) throws -> [String] {
        let server = try FolderServer(data: data)
        defer { server.stop() }
        return try (0..<count).map { number in
            let id = try server.folder.containers.create("iCloud.n\(number)", now: 1).id
            return try server.folder.apiTokens.create(
                container: id, environment: .development, now: 1
            ).token
        }
    }

    #if os(Linux)
        /// Waits until the process has the files of no more stores than it may have open.
        private static func waitUntilFewAreOpen(_ process: Int32) throws {
            let end = Date(timeIntervalSinceNow: 60)
            while true {
                let folder = "/proc/\(process)/fd"
                let paths = try FileManager.default.contentsOfDirectory(atPath: folder)
                    // NB: one that has been closed meanwhile leads nowhere.
                    .compactMap {
                        try? FileManager.default.destinationOfSymbolicLink(
                            atPath: "\(folder)/\($0)")
                    }
                let stores = Set(paths.filter { $0.hasSuffix("/store.sqlite") })
                if stores.count <= openMax { return }
                try #require(Date.now < end, "still open: \(stores.sorted())")
                sched_yield()
            }
        }

        /// The memory that the process has written to.
        private static func residentBytes(of process: Int32) throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let kilobytes = try #require(
                status.firstMatch(of: #/RssAnon:\s+([0-9]+) kB/#).flatMap { Int($0.1) })
            return kilobytes * 1_024
        }
    #endif
}
