import CloudDatabase
import CloudModel
import Dispatch
import Foundation
import SQLiteStorage
import Storage
import Synchronization

/// A store in a folder of its own whose records are written without the rules of the protocol.
final class NoticedStore {
    static let owner = UserRecordName("_" + String(repeating: "a", count: 32)).required
    static let other = UserRecordName("_" + String(repeating: "b", count: 32)).required

    let folder: URL
    private(set) var store: SQLiteStore
    /// Goes on when the store is opened again, as a server's do.
    let notices = CommitNotices()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "notices-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try Self.open(folder, notices)
    }

    deinit {
        store.close()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func open(_ folder: URL, _ notices: CommitNotices) throws -> SQLiteStore {
        var options = SQLiteStore.Options(
            clock: Clock { 1_700_000_000_000 },
            random: { count in (0..<count).map { _ in .random(in: 0...255) } })
        options.notices = notices
        let path = folder.appending(path: "store.sqlite").path
        return try SQLiteStore(path: path, options: options, onIndeterminate: { _ in })
    }

    func reopen() throws {
        store.close()
        store = try Self.open(folder, notices)
    }

    /// A zone of an owner, made where it is missing; the public database's default zone for nobody.
    func zone(_ name: String, of owner: UserRecordName? = NoticedStore.owner) throws -> StoredZone {
        let name = ZoneName(name).required
        return try store.writeAndWait { transaction in
            try transaction.noticedZone(name, of: owner ?? .publicOwner)
        }
    }

    /// Saves a record, or deletes it.
    ///
    /// - Returns: the position of the change.
    @discardableResult
    func put(
        _ name: String, _ body: String?, in zone: StoredZone, type: Int64 = 1
    ) throws -> Position {
        let name = RecordName(name).required
        return try store.writeAndWait { transaction in
            try transaction.put(name, body, in: zone, type: type)
        }
    }
}

extension StoreTransaction {
    func noticedZone(_ name: ZoneName, of owner: UserRecordName) throws -> StoredZone {
        try zone(named: name, ofOwnerNamed: owner) ?? makeZone(named: name, ofOwnerNamed: owner)
    }

    func put(
        _ name: RecordName, _ body: String?, in zone: StoredZone, type: Int64 = 1
    ) throws -> Position {
        let previous = try head(of: name, in: zone.number)
        let before = try previous.flatMap { head in
            try version(at: head.position, in: zone.number) { version in
                (isAlive: !version.flags.contains(.tombstone), bytes: version.body.count)
            }
        }
        let isAlive = before?.isAlive ?? false
        let position = try takePosition()
        _ = try save(
            NewVersion(
                zone: zone, name: name, position: position, previous: previous,
                previousBytes: isAlive ? before?.bytes ?? 0 : 0, previousIsAlive: isAlive,
                type: type,
                flags: body == nil ? .tombstone : VersionFlags(), body: Array((body ?? "{}").utf8)))
        return position
    }
}

/// Lets a test wait for a notice, and fails it when none comes.
final class Moved: Sendable {
    private let come = DispatchSemaphore(value: 0)
    private let last = Mutex<CommitNotice?>(nil)

    /// What `whenMoved` is given.
    var wake: CommitWatch.Wake {
        { notice in
            self.last.withLock { $0 = notice }
            self.come.signal()
        }
    }

    /// - Returns: nil when none has come for a minute.
    func wait() -> CommitNotice? {
        guard come.wait(timeout: .now() + 60) == .success else { return nil }
        return last.withLock { $0 }
    }

    var hasCome: Bool { last.withLock { $0 != nil } }
}

extension Thread {
    /// Runs a body on a thread of its own, which may block.
    static func run(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        let thread = Thread {
            body()
            group.leave()
        }
        thread.start()
    }
}
