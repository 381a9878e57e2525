import CloudModel
import Dispatch
import Storage
import Synchronization

/// A store under test, with the few things that most promises need in it.
final class TestStore: Sendable {
    let location: any EngineLocation
    let clock: TestClock
    private let opened: Mutex<any Store>

    init(_ location: any EngineLocation, _ clock: TestClock) throws {
        self.location = location
        self.clock = clock
        opened = Mutex(try location.openStore())
    }

    var store: any Store { opened.withLock { $0 } }

    /// Ends the store in an orderly way and opens it again.
    func reopen() throws {
        try location.close(store)
        let store = try location.openStore()
        opened.withLock { $0 = store }
    }

    /// Goes on as after a crash; false where the engine cannot show what that leaves.
    func crash() throws -> Bool {
        guard let store = try location.openAfterCrash() else { return false }
        opened.withLock { $0 = store }
        return true
    }

    func end() throws {
        try expect(location.problems(), is: [])
        try location.close(store)
    }

    func read<Value>(_ body: (any StoreSnapshot) throws -> Value) throws -> Value {
        try store.read(body)
    }

    @discardableResult
    func write<Value: Sendable>(
        by caller: StoreCaller = .server,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value
    ) throws -> Value { try store.writeAndWait(caller: caller, body) }

    // MARK: - What promises are about

    static func user(_ number: Int) -> UserRecordName {
        let digits = String(number, radix: 16)
        return name(
            UserRecordName("_" + String(repeating: "0", count: 32 - digits.count) + digits))
    }

    static func zone(_ text: String) -> ZoneName { name(ZoneName(text)) }

    static func record(_ text: String) -> RecordName { name(RecordName(text)) }

    static func name<Name>(_ name: Name?) -> Name {
        guard let name else { preconditionFailure("a name of the suite is none") }
        return name
    }

    static let type = name(RecordTypeName("Note"))

    /// A zone of the first user's, who is made with it, and the type `Note` in the schema.
    func makeZone(_ name: String = "Shelf") throws -> StoredZone {
        try write { transaction in
            if try transaction.schema.types[Self.type] == nil {
                var schema = try transaction.schema
                schema.types[Self.type] = Schema.RecordType()
                try transaction.replaceSchema(by: schema, who: "trial", difference: ["+ type Note"])
            }
            return try transaction.makeZone(
                named: Self.zone(name), ofOwnerNamed: Self.user(1))
        }
    }

    /// The name that a body without anything else has.
    static func name(in body: UnsafeRawBufferPointer) -> String {
        String(decoding: body.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
    }

    /// The names of the records that a feed shows after a position, `-` before deleted ones.
    func feed(of zone: StoredZone, after: Position = 0) throws -> [String] {
        try read { snapshot in
            var found: [String] = []
            try snapshot.versions(
                in: zone.number, after: after, through: .max, newestFirst: false
            ) { version in
                let name = Self.name(in: version.body)
                found.append(version.flags.contains(.tombstone) ? "-" + name : name)
                return true
            }
            return found
        }
    }
}

extension StoreTransaction {
    /// Saves a record as plainly as can be, and tells where it is then.
    ///
    /// - Parameter body: JSON; without one it is the name.
    @discardableResult
    func save(
        _ name: String, in zone: StoredZone, body: [UInt8]? = nil, fieldsEnd: Int? = nil,
        flags: VersionFlags = [], links: [Link]? = nil, files: Set<AssetDigest>? = nil,
        shortGUID: String? = nil
    ) throws -> StoredHead {
        let name = TestStore.record(name)
        let previous = try head(of: name, in: zone.number)
        let (bytes, isAlive) =
            try previous.flatMap { head in
                try version(at: head.position, in: zone.number) { version in
                    let isAlive = !version.flags.contains(.tombstone)
                    return (isAlive ? version.body.count : 0, isAlive)
                }
            } ?? (0, false)
        let position = try takePosition()
        let type = try schema.types[TestStore.type]?.number ?? 0
        var made = NewVersion(
            zone: zone, name: name, position: position, previous: previous, previousBytes: bytes,
            previousIsAlive: isAlive, type: type, flags: flags,
            body: body ?? Array("\"\(name.text)\"".utf8), fieldsEnd: fieldsEnd)
        made.links = links
        made.files = files
        made.shortGUID = shortGUID
        return StoredHead(record: try save(made), position: position)
    }

    /// Puts a tombstone in a record's place.
    @discardableResult
    func writeTombstone(_ name: String, in zone: StoredZone) throws -> StoredHead {
        try save(name, in: zone, flags: .tombstone)
    }
}

/// Runs closures on threads of their own and waits for all.
func together(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let failure = Mutex<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: count) { number in
        do { try body(number) } catch { failure.withLock { $0 = $0 ?? error } }
    }
    if let failure = failure.withLock({ $0 }) { throw failure }
}
