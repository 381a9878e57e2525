/// Where the objects of backups lie: a folder, or a bucket of an S3-compatible store.
///
/// Names are made of letters, digits, `-`, `.` and `/`. Every call blocks. An object that is there is whole and durable.
package protocol BackupObjects: Sendable {
    /// Stores an object, in place of one that is there.
    func put(_ name: String, _ bytes: [UInt8]) throws

    /// A stretch of an object, or all of it for nil; nil when there is no such object.
    ///
    /// - Throws: also when the object is shorter than the stretch.
    func read(_ name: String, _ stretch: Range<Int>?) throws -> [UInt8]?

    /// The objects whose names begin so, in the order of their names.
    func list(_ prefix: String) throws -> [BackupObject]

    /// Removes an object, if it is there.
    func delete(_ name: String) throws

    /// Removes what a process has left that ended while it stored an object; while nobody stores any.
    func removeUnfinished() throws
}

extension BackupObjects {
    package func removeUnfinished() throws {}
}

/// An object of a listing.
package struct BackupObject: Sendable, Equatable {
    package let name: String
    package let byteCount: Int

    package init(name: String, byteCount: Int) {
        self.name = name
        self.byteCount = byteCount
    }
}

/// Why a backup cannot be made, found or read, in words for the operator.
package struct BackupFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// Nobody wants it any longer.
    static let stopped = BackupFailure("the server stops")

    static func damaged(_ what: String) -> BackupFailure {
        BackupFailure("the backup is damaged: \(what)")
    }
}
