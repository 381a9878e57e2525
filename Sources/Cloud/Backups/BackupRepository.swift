import CloudModel
import Cryptography
import JSON
import Synchronization

/// All backups of one server, in a folder or a bucket.
///
/// `lenticular-backups` says whose they are and by which key they are sealed. Each object below `backups/` is a backup:
/// a list of pieces, which lie in the packs below `packs/` and which backups share. `erasures` holds who was erased, as
/// the last backup knew it: no restore takes that back.
package final class BackupRepository: Sendable {
    private static let headName = "lenticular-backups"
    private static let erasuresName = "erasures"
    private static let verifiedName = "verified"
    private static let format: Int64 = 1

    let objects: any BackupObjects
    let key: BackupKey
    let random: RandomSource
    /// What the backups need of packs; they never change.
    private let known = Mutex<[String: Set<String>]>([:])

    /// Opens backups that are there.
    ///
    /// - Throws: `BackupFailure` when there are none, or they are sealed by another key.
    package init(_ objects: any BackupObjects, key: BackupKey, random: RandomSource) throws {
        (self.objects, self.key, self.random) = (objects, key, random)
        guard let head = try head() else { throw BackupFailure("there are no backups") }
        try require(head)
    }

    /// Opens the backups of a server, or begins them.
    ///
    /// - Parameter owner: names the data folder, always in the same way.
    /// - Throws: `BackupFailure` when they are another server's, or sealed by another key.
    package init(
        _ objects: any BackupObjects, key: BackupKey, random: RandomSource, owner: String
    ) throws {
        (self.objects, self.key, self.random) = (objects, key, random)
        if try head() == nil {
            var line = JSONLine()
            line.beginObject()
            line.key("format")
            line.number(Self.format)
            line.key("owner")
            line.text(owner)
            if let name = key.name {
                line.key("key")
                line.text(name)
            }
            line.endObject()
            try objects.put(Self.headName, line.bytes)
        }
        guard let head = try head() else { throw BackupFailure("what is stored is not there") }
        try require(head)
        guard head.owner == owner else {
            throw BackupFailure(
                "there are backups of another server; name another place, or, if that server has gone for "
                    + "good, remove the object \(Self.headName) and what lies beside it")
        }
    }

    /// Whether there are backups, of any maker.
    package static func isThere(_ objects: any BackupObjects) throws -> Bool {
        try objects.read(headName, nil) != nil
    }

    private func head() throws -> (owner: String, key: String?)? {
        guard let bytes = try objects.read(Self.headName, nil) else { return nil }
        // NB: what is no JSON is named as damaged.
        guard let root = try? JSONDocument(parsing: bytes).root, let owner = root["owner"]?.string,
            let format = root["format"]?.int64
        else { throw BackupFailure.damaged(Self.headName) }
        guard format == Self.format else {
            throw BackupFailure("the backups are of a later version (format \(format))")
        }
        return (owner, root["key"]?.string)
    }

    private func require(_ head: (owner: String, key: String?)) throws {
        guard head.key != key.name else { return }
        throw BackupFailure(
            head.key == nil
                ? "the backups are not sealed, and backups.keyFile names a key"
                : key.name == nil
                    ? "the backups are sealed: backups.keyFile must name their key"
                    : "the backups are sealed by another key than that in backups.keyFile")
    }

    /// When each backup was made, the first one first.
    package func moments() throws -> [Milliseconds] {
        try objects.list(BackupManifest.prefix).compactMap {
            Self.moment(ofName: $0.name.dropFirst(BackupManifest.prefix.count))
        }
    }

    /// The last backup that was made at a moment or before.
    package func last(at moment: Milliseconds = .max) throws -> BackupManifest? {
        try moments().last { $0 <= moment }.map { try manifest($0) }
    }

    private func manifest(_ moment: Milliseconds) throws -> BackupManifest {
        let name = BackupManifest.prefix + Self.name(of: moment)
        guard let bytes = try objects.read(name, nil),
            let plain = key.open(bytes[...], as: Array(name.utf8))
        else { throw BackupFailure.damaged(name) }
        return try BackupManifest(plain)
    }

    /// Begins a backup, and removes what earlier ones that were cut off have left: that may be what fills the disk.
    ///
    /// - Parameters:
    ///   - version: of the server.
    ///   - goesOn: asked before each piece; false ends it, and there is no backup.
    package func begin(
        at moment: Milliseconds, version: String,
        while goesOn: @escaping @Sendable () -> Bool = { true }
    ) throws -> NewBackup {
        try sweep(now: moment)
        let previous = try last()
        // One a millisecond; a clock that was set back makes none that is older than the last.
        let moment = max(moment, (previous?.moment ?? 0) + 1)
        return try NewBackup(
            objects, key, moment: moment, version: version, previous: previous,
            run: "\(Self.name(of: moment))-\(Hexadecimal.encode(random.bytes(4)))",
            while: goesOn)
    }

    /// Removes the backups that are not kept any longer, and the packs that no backup needs.
    ///
    /// Only between backups.
    package func sweep(now: Milliseconds) throws {
        try objects.removeUnfinished()
        let moments = try moments()
        let kept = Retention.kept(moments, now: now)
        for moment in moments where !kept.contains(moment) {
            try objects.delete(BackupManifest.prefix + Self.name(of: moment))
        }
        var needed: Set<String> = []
        var packs: [String: Set<String>] = [:]
        let known = self.known.withLock { $0 }
        for moment in kept {
            let name = Self.name(of: moment)
            let used = try known[name] ?? Set(manifest(moment).packs.keys)
            packs[name] = used
            needed.formUnion(used)
        }
        self.known.withLock { $0 = packs }
        for pack in try objects.list(PackWriter.prefix) {
            guard !needed.contains(String(pack.name.dropFirst(PackWriter.prefix.count))) else {
                continue
            }
            try objects.delete(pack.name)
        }
    }
}

// What lies beside the backups.
extension BackupRepository {
    /// Notes who was erased, as the ledger has it.
    package func putErasures(_ bytes: [UInt8]) throws {
        try objects.put(
            Self.erasuresName, try key.seal(bytes, as: Array(Self.erasuresName.utf8)))
    }

    /// The ledger as the last backup knew it; empty where it knew none.
    package func erasures() throws -> [UInt8] {
        guard let bytes = try objects.read(Self.erasuresName, nil) else { return [] }
        guard let plain = key.open(bytes[...], as: Array(Self.erasuresName.utf8)) else {
            throw BackupFailure.damaged(Self.erasuresName)
        }
        return plain
    }

    /// Notes that a backup was restored and checked.
    package func putVerified(at moment: Milliseconds) throws {
        try objects.put(Self.verifiedName, Array("\(moment)\n".utf8))
    }

    /// When a backup was last restored and checked without a problem; nil for never.
    package func verified() throws -> Milliseconds? {
        try objects.read(Self.verifiedName, nil).flatMap {
            Milliseconds(String(decoding: $0, as: UTF8.self).filter { !$0.isWhitespace })
        }
    }

    /// Reads a backup.
    ///
    /// - Parameter goesOn: asked before each request; false ends it.
    package func contents(
        of manifest: BackupManifest, while goesOn: @escaping @Sendable () -> Bool = { true }
    ) -> BackupContents {
        BackupContents(manifest, PackReader(objects: objects, key: key, goesOn: goesOn))
    }

    /// A moment as a name; later ones follow in the order of names.
    static func name(of moment: Milliseconds) -> String {
        let digits = String(moment)
        return String(repeating: "0", count: max(0, 15 - digits.count)) + digits
    }

    private static func moment(ofName name: Substring) -> Milliseconds? {
        name.count == 15 ? Milliseconds(name) : nil
    }
}
