import ChildProcesses
import CloudModel
import Foundation
import Testing

@testable import Server

/// Files of stores that are gone, another's, or nobody's.
@Suite("Files of stores")
struct StoreFileTests {
    private let notes: FolderNotes
    private let files = FileManager.default

    init() throws { notes = try FolderNotes() }

    private var location: String { (notes.store as NSString).deletingLastPathComponent }

    /// The code of the answer to a lookup.
    private func code() throws -> String? {
        let body: [String: Any] = [
            "zoneID": ["zoneName": "z"], "records": [["recordName": "a"]],
        ]
        return try notes.post("private/records/lookup", body)["serverErrorCode"] as? String
    }

    @Test(
        "A store whose file is gone is refused and named, no other is made, and put back it serves")
    func missing() throws {
        try notes.save("a")
        let token = try #require(try notes.page(nil)["syncToken"] as? String)
        notes.stop()
        let away = notes.temporary.path("away")
        try files.moveItem(atPath: location, toPath: away)
        for _ in 0..<2 {
            let server = try notes.start().server
            #expect(try code() == "TRY_AGAIN_LATER")
            #expect(server.readiness.obstacle == nil)
            #expect(server.folder.stores.search.missingCount == 1)
            #expect(
                try server.folder.problems() == [
                    "iCloud.a development: store.sqlite is not there, or is another's"
                ])
            #expect(!files.fileExists(atPath: notes.store))
            notes.stop()
        }
        let server = try notes.start().server
        if files.fileExists(atPath: location) { try files.removeItem(atPath: location) }
        try files.moveItem(atPath: away, toPath: location)
        #expect(server.folder.stores.search.missingCount == 0)
        #expect(try code() == nil)
        #expect(try notes.page(token)["serverErrorCode"] == nil)
        #expect(try server.folder.problems() == [])
    }

    @Test("A new store that has lost its whole log is still known as this server's")
    func lostLog() throws {
        try notes.save("a")
        let withoutLog = notes.temporary.path("without-log")
        try files.copyItem(atPath: notes.store, toPath: withoutLog)
        notes.stop()
        try files.removeItem(atPath: notes.store)
        try files.moveItem(atPath: withoutLog, toPath: notes.store)
        let server = try notes.start().server
        #expect(try code() != "TRY_AGAIN_LATER")
        #expect(server.readiness.obstacle == nil)
    }

    @Test("A store in another's place is refused, and so is one of a container that was deleted")
    func exchanged() throws {
        try notes.save("a")
        let folder = try #require(notes.running).folder
        let other = try folder.containers.create("iCloud.b", now: 1).id
        _ = try folder.stores.store(of: other, in: .development)
        notes.stop()
        try notes.copy(to: "right")
        let second = "\(notes.data)/containers/icloud.b/development/store.sqlite"
        let away = notes.temporary.path("away")
        try files.moveItem(atPath: second, toPath: away)
        try files.moveItem(atPath: notes.store, toPath: second)
        try files.moveItem(atPath: away, toPath: notes.store)
        var server = try notes.start().server
        #expect(try code() == "TRY_AGAIN_LATER")
        #expect(server.folder.stores.search.missingCount == 2)
        #expect(try server.folder.problems().count == 2)
        try notes.putBack("right")
        server = try notes.start().server
        #expect(try code() == nil)
        #expect(try server.folder.problems() == [])

        try server.folder.deleteContainer(other)
        _ = try server.folder.containers.create("iCloud.b", now: 2)
        _ = try server.folder.stores.store(of: other, in: .development)
        notes.stop()
        try files.removeItem(atPath: second)
        let previous = notes.temporary.path("right") + second.dropFirst(notes.data.count)
        try files.copyItem(atPath: previous, toPath: second)
        server = try notes.start().server
        #expect(throws: (any Error).self) {
            try server.folder.stores.store(of: other, in: .development)
        }
        #expect(try code() == nil)
    }

    @Test("A container that is made adopts no files: they are put aside, and the check names them")
    func strays() throws {
        try notes.save("a", in: "public")
        notes.stop()
        let stray = "\(notes.data)/containers/icloud.c/development"
        try files.createDirectory(atPath: stray, withIntermediateDirectories: true)
        try files.copyItem(atPath: notes.store, toPath: "\(stray)/store.sqlite")
        let folder = try notes.start().folder
        #expect(try folder.problems() == ["catalog: files that no store owns: \(stray)"])
        let made = try folder.containers.create("iCloud.c", now: 1).id
        let store = try folder.stores.store(of: made, in: .development)
        let note = try #require(RecordTypeName("Note"))
        #expect(try store.schema.number(of: note) == nil)
        #expect(files.fileExists(atPath: "\(stray)~stray/store.sqlite"))
        #expect(try folder.problems() == ["catalog: files that no store owns: \(stray)~stray"])
    }

    @Test("A store that was cut off before the catalog knew of it is made anew")
    func cutOff() throws {
        let folder = try #require(notes.running).folder
        let made = try folder.containers.create("iCloud.d", now: 1).id
        _ = try folder.stores.store(of: made, in: .development)
        try notes.save("a")
        notes.stop()
        let other = "\(notes.data)/containers/icloud.d"
        let empty = notes.temporary.path("empty")
        try files.moveItem(atPath: other, toPath: empty)
        let again = try notes.start().folder
        try again.deleteContainer(made)
        _ = try again.containers.create("iCloud.d", now: 1)
        try files.moveItem(atPath: empty, toPath: other)
        _ = try again.stores.store(of: made, in: .development)
        #expect(try again.problems() == [])
        #expect(!files.fileExists(atPath: "\(other)/development~stray"))
    }

    @Test("A folder without its catalog, or with half a restore, is not served as a new one")
    func withoutCatalog() throws {
        try notes.save("a")
        notes.stop()
        let catalog = "\(notes.data)/catalog.sqlite"
        for suffix in ["", "-wal", "-shm"] { try? files.removeItem(atPath: catalog + suffix) }
        let refused = try Program.run(
            ["serve", "--listen", "127.0.0.1:0", "--data", notes.data])
        #expect(refused.status == 1)
        #expect(refused.error.contains("has containers/ but no catalog.sqlite"))
        #expect(!files.fileExists(atPath: catalog))
        let half = notes.temporary.path("half")
        try files.createDirectory(atPath: half + "/restoring", withIntermediateDirectories: true)
        let again = try Program.run(["serve", "--listen", "127.0.0.1:0", "--data", half])
        #expect(again.status == 1)
        #expect(again.error.contains("a restore did not come to its end"))
        #expect(!files.fileExists(atPath: half + "/catalog.sqlite"))
    }

    @Test("A restore that was killed at any of fifty moments is run again, and gives all")
    func killedRestores() throws {
        for number in 0..<5 { try notes.save("r\(number)") }
        notes.stop()
        let copy = notes.temporary.path("backup")
        try #require(try Program.run(["backup", copy, "--data", notes.data]).status == 0)
        let target = notes.temporary.path("target")
        let start = DispatchTime.now()
        try #require(try Program.run(["restore", copy, "--yes", "--data", target]).status == 0)
        let whole = DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds
        try files.removeItem(atPath: target)
        var cut = 0
        for moment in 0..<50 {
            let process = ChildProcess()
            process.executableURL = Program.url
            process.arguments = ["restore", copy, "--yes", "--data", target]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            usleep(UInt32(whole / 1_000 * UInt64(moment) / 50))
            process.signal(SIGKILL)
            process.waitUntilExit()
            if files.fileExists(atPath: target + "/catalog.sqlite") {
                // All was in place; what may be left of the way there goes with the next start.
                #expect(try Program.run(["check", "--data", target]).status == 0)
            } else {
                cut += 1
                let again = try Program.run(["restore", copy, "--yes", "--data", target])
                #expect(again.status == 0, "moment \(moment): \(again.error)")
                #expect(try Program.run(["check", "--data", target]).status == 0)
            }
            #expect(!files.fileExists(atPath: target + "/restoring"))
            try files.removeItem(atPath: target)
        }
        #expect(cut > 0)
    }
}
