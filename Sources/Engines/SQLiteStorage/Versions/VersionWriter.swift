import CloudModel
import SQLite
import Storage
import StoredRows

/// Writes versions into `version_rows`, and takes them out.
///
/// Confined to the writer's queue.
final class VersionWriter {
    private let names: VersionNames
    private let insert: Statement
    private let delete: Statement
    private let lastUser: Statement
    private let insertUser: Statement
    private let connection: Connection

    init(_ connection: Connection, _ names: VersionNames) throws {
        self.connection = connection
        self.names = names
        insert = try connection.prepare("INSERT INTO version_rows (key, content) VALUES (?1, ?2)")
        delete = try connection.prepare(
            "DELETE FROM version_rows WHERE key = ?1 AND \(VersionRow.recordSQL) = ?2")
        lastUser = try connection.prepare("SELECT coalesce(max(id), 0) FROM version_users")
        insertUser = try connection.prepare(
            "INSERT INTO version_users (id, record_name, checksum) VALUES (?1, ?2, ?3)")
    }

    /// Writes a version.
    ///
    /// - Parameter fieldsEnd: where the members of `fields` end in the text; nil to look for it.
    /// - Throws: `BrokenInvariant` for flags that no row can hold.
    func insert(
        _ head: VersionRow.Head, _ text: UnsafeRawBufferPointer, fieldsEnd: Int? = nil
    ) throws {
        guard (0...255).contains(head.flags.rawValue) else {
            throw BrokenInvariant("a version's flags take a byte: \(head.flags.rawValue)")
        }
        let row = try row(head, text, fieldsEnd)
        insert.bind(head.key, at: 1)
        try row.withUnsafeBytes {
            insert.bindBorrowed(blob: $0, at: 2)
            try insert.run()
        }
    }

    /// Removes the version of a record at a place.
    ///
    /// - Returns: whether it was there.
    func remove(_ record: RecordNumber, at key: Int64) throws -> Bool {
        delete.bind(key, at: 1)
        delete.bind(VersionRow.recordBytes(record), at: 2)
        try delete.run()
        return connection.changeCount == 1
    }

    /// Removes what is at a place, whosever it says it is.
    ///
    /// - Returns: whether there was something.
    func remove(at key: Int64) throws -> Bool {
        let statement = try connection.prepare("DELETE FROM version_rows WHERE key = ?1")
        statement.bind(key, at: 1)
        try statement.run()
        return connection.changeCount == 1
    }

    /// The row of a version: without what its zone and type say of it, where its text is as the server makes
    /// texts.
    private func row(
        _ head: VersionRow.Head, _ text: UnsafeRawBufferPointer, _ fieldsEnd: Int?
    ) throws -> [UInt8] {
        guard let type = try names.type(head.type),
            let zone = try names.zone(head.key >> SQLiteSnapshot.positionBits)
        else { return VersionRow.row(whole: head, text) }
        if head.flags.contains(.tombstone) {
            return RecordText.deleted(text, type: type, zone: zone).map {
                VersionRow.row(deletion: head, text, $0)
            } ?? VersionRow.row(whole: head, text)
        }
        let position = head.key & SQLiteSnapshot.positionMask
        guard
            let parts = RecordText(
                text, type: type, position: position, zone: zone, fieldsEnd: fieldsEnd),
            !parts.created.device.isEmpty, !parts.modified.device.isEmpty
        else { return VersionRow.row(whole: head, text) }
        let users = VersionRow.Users(
            creator: try number(ofUser: UnsafeRawBufferPointer(rebasing: text[parts.created.user])),
            modifier: try number(
                ofUser: UnsafeRawBufferPointer(rebasing: text[parts.modified.user])))
        return VersionRow.row(head, text, parts, users)
    }

    /// The number of a user, who gets one when they have none.
    private func number(ofUser name: UnsafeRawBufferPointer) throws -> Int64 {
        if let known = try names.number(ofUser: name) { return known }
        let name = [UInt8](name)
        defer { lastUser.reset() }
        guard try lastUser.step() else { throw InvalidRow(table: "version_users") }
        let number = lastUser.int64(0) + 1
        insertUser.bind(number, at: 1)
        insertUser.bind(text: name, at: 2)
        insertUser.bind(VersionNames.checksum(number, name), at: 3)
        try insertUser.run()
        return number
    }
}
