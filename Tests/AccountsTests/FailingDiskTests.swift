import Accounts
import CFaultVFS
import CloudModel
import Foundation
import SQLiteStorage
import Storage
import Synchronization
import Testing

/// A disk that fails calls of one kind with one code while a test wants it to.
private final class FailingDisk: @unchecked Sendable {
    // The C side has its own lock, and the rest is atomic.
    let name = "accounts-\(UUID().uuidString)"
    private var vfs: OpaquePointer?
    private let operation: fault_operation
    private let code: Int32
    let isFailing = Atomic(false)

    init(_ operation: fault_operation, code: Int32) {
        self.operation = operation
        self.code = code
        vfs = fault_vfs_create(
            name, 0,
            { context, operation, _ in
                guard let context else { return 0 }
                let disk = Unmanaged<FailingDisk>.fromOpaque(context).takeUnretainedValue()
                let isHit =
                    operation == disk.operation && disk.isFailing.load(ordering: .acquiring)
                return isHit ? disk.code : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { if let vfs { fault_vfs_destroy(vfs) } }
}

@Suite("The catalog on a disk that fails")
struct FailingDiskTests {
    // SQLite's result codes, as sqlite3.h lists them.
    private static let full: Int32 = 13
    private static let syncFailed: Int32 = 10 | 4 << 8

    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "accounts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test("On a full disk a change is refused whole, and made when there is room again")
    func full() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let disk = FailingDisk(FAULT_WRITE, code: FailingDiskTests.full)
        let ended = Atomic(0)
        let catalog = try SQLiteCatalog(
            path: folder.appending(path: "catalog.sqlite").path, fileSystem: disk.name
        ) { _ in ended.add(1, ordering: .relaxed) }
        let containers = Containers(catalog: catalog)
        disk.isFailing.store(true, ordering: .releasing)
        #expect(throws: StorageFailure.full) { try containers.create("iCloud.a", now: 0) }
        #expect(try containers.list().items.isEmpty)
        disk.isFailing.store(false, ordering: .releasing)
        _ = try containers.create("iCloud.a", now: 0)
        #expect(try containers.list().items.count == 1)
        #expect(ended.load(ordering: .relaxed) == 0)
    }

    @Test("After a commit that failed nothing more is written, and whoever must end is told once")
    func indeterminate() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let disk = FailingDisk(FAULT_SYNC, code: FailingDiskTests.syncFailed)
        let ended = Atomic(0)
        let catalog = try SQLiteCatalog(
            path: folder.appending(path: "catalog.sqlite").path, fileSystem: disk.name
        ) { _ in ended.add(1, ordering: .relaxed) }
        let containers = Containers(catalog: catalog)
        let id = try containers.create("iCloud.before", now: 0).id
        let before = catalog.version
        disk.isFailing.store(true, ordering: .releasing)
        #expect(throws: StorageFailure.indeterminate) { try catalog.delete(id) }
        // What may have ended is not believed from memory any more.
        #expect(catalog.version > before)
        disk.isFailing.store(false, ordering: .releasing)
        #expect(throws: StorageFailure.indeterminate) {
            try containers.create("iCloud.after", now: 0)
        }
        #expect(ended.load(ordering: .relaxed) == 1)
    }
}
