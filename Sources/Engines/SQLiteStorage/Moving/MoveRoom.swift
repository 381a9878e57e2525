import Files
import SQLite

/// The room on the disk without which nothing is moved that a former server has left.
///
/// Pages that a step empties are used by those after it, so that the file hardly grows; what a step takes is
/// the log's.
struct MoveRoom {
    /// What is free at least when a step begins.
    let freeBytesMin: Int

    /// Looks at the disk: a call of the system, a few thousandths of what the smallest step takes.
    ///
    /// - Throws: `NoRoomToMove` where it is too full.
    func require(for connection: Connection) throws {
        let room = try FileSystem.freeBytes(at: connection.path)
        guard room >= freeBytesMin else {
            throw NoRoomToMove(freeBytes: room, freeBytesMin: freeBytesMin)
        }
    }
}

/// The disk has too little room for rows of a former server to be moved into the present form.
struct NoRoomToMove: Error, CustomStringConvertible {
    let freeBytes: Int
    let freeBytesMin: Int

    var description: String {
        "records wait to be moved: \(freeBytes) bytes are free and storage.moveFreeBytesMin is \(freeBytesMin)"
    }
}
