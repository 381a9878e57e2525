import CloudModel
import Control
import Files
import Storage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Which accounts were erased: a file that only grows, beside the data and beside backups.
///
/// A line holds the moment, the account's id, and what becomes of its public records; never an address. What is
/// noted here is on the disk before anything of the account goes. No restore takes a line back: after an old backup
/// is restored, these people are erased again.
package struct ErasureLedger {
    /// One account that was erased.
    struct Entry: Hashable {
        let moment: Milliseconds
        let account: AccountID
        let publicRecords: PublicRecordsFate

        /// Without its end.
        var line: String { "\(moment) \(account.text) \(publicRecords.rawValue)" }

        /// Nil for a line that a crash has cut short, and for any other malformed line.
        fileprivate init?(_ line: Substring) {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 3, let moment = Milliseconds(words[0]), !words[1].isEmpty,
                let fate = PublicRecordsFate(rawValue: String(words[2]))
            else { return nil }
            self.init(moment: moment, account: AccountID(String(words[1])), publicRecords: fate)
        }

        init(moment: Milliseconds, account: AccountID, publicRecords: PublicRecordsFate) {
            (self.moment, self.account) = (moment, account)
            self.publicRecords = publicRecords
        }
    }

    static let fileName = "erasures.log"
    /// Some ten million accounts.
    private static let bytesMax = 1 << 30

    private let path: String

    /// - Parameter folder: a data folder, a backup, or the folder that backups lie in.
    init(in folder: String) { path = "\(folder)/\(Self.fileName)" }

    /// All that it holds, in its order; none where there is no file.
    func entries() throws(FileSystemFailure) -> [Entry] {
        guard try FileSystem.kind(of: path) == .file else { return [] }
        return Self.entries(try FileSystem.contents(of: path, bytesMax: Self.bytesMax))
    }

    static func entries(_ lines: [String]) -> [Entry] { lines.compactMap { Entry($0[...]) } }

    /// What the lines of a ledger say.
    static func entries(_ bytes: [UInt8]) -> [Entry] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { Entry($0) }
    }

    /// Adds those that it does not hold yet; when this returns, they are on the disk.
    func add(_ entries: [Entry]) throws {
        let known = Set(try self.entries())
        let lines = entries.filter { !known.contains($0) }.map { "\($0.line)\n" }.joined()
        guard !lines.isEmpty else { return }
        let descriptor = open(
            path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open") }
        defer { close(descriptor) }
        // What a crash has cut short ends here, and does not spoil the next line.
        try FileSystem.write(
            Array((try endsWithin(descriptor) ? "\n" : "").utf8) + Array(lines.utf8),
            to: descriptor, of: path)
        guard fsync(descriptor) == 0 else { throw failure("synchronize") }
        if let folder = FileSystem.parent(of: path) { try FileSystem.synchronize(folder) }
    }

    /// Whether the last line has no end.
    private func endsWithin(_ descriptor: Int32) throws -> Bool {
        let size = lseek(descriptor, 0, SEEK_END)
        guard size > 0 else { return false }
        var last: UInt8 = 0
        guard pread(descriptor, &last, 1, size - 1) == 1 else { throw failure("read") }
        return last != UInt8(ascii: "\n")
    }

    private func failure(_ what: String) -> CommandFailure {
        CommandFailure("cannot \(what) \(path): \(String(cString: strerror(errno)))")
    }

    /// Copies what a backup knows to the folder in which it lies.
    ///
    /// So who restores an older one that lies there erases again who was erased since.
    package static func copyBeside(backup: String) throws {
        guard let above = FileSystem.parent(of: backup) else { return }
        try ErasureLedger(in: above).add(ErasureLedger(in: backup).entries())
    }

    /// Who was erased, as a copy and the file beside it say.
    static func entries(besideAndIn copy: String) throws -> [Entry] {
        var entries = try ErasureLedger(in: copy).entries()
        if let above = FileSystem.parent(of: copy) {
            entries += try ErasureLedger(in: above).entries()
        }
        return entries
    }
}
