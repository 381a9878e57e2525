import CloudModel

/// Something whose rows another engine, or the same one elsewhere, can take over.
package enum CopiedPart: Hashable, Sendable {
    /// What the catalog has of a container and of the people who use it; nil for all that it has.
    case catalog(of: ContainerID?)
    case store(StoreKey)
}

/// A value that every engine can keep; a text is its bytes.
package enum CopiedValue: Hashable, Sendable {
    case integer(Int64)
    case bytes([UInt8])
    case nothing
}

/// A row in a form that belongs to no engine.
package struct CopiedRow: Hashable, Sendable {
    /// Its number among the kinds of its part.
    package let kind: Int
    /// In the order of the kind's fields, of which the first are its key.
    package let values: [CopiedValue]

    package init(kind: Int, _ values: [CopiedValue]) {
        self.kind = kind
        self.values = values
    }
}

/// The rows of a part, in the order of their kinds and keys; used by one thread.
///
/// What an engine derives from others (indexes, words, sums) is not among them.
package struct CopiedRows {
    /// The names of the kinds.
    package let kinds: [String]
    /// About how many rows there are.
    package let estimate: Int64
    /// The rows behind one, nil for the first: some, or none at the end.
    package let next: (_ last: CopiedRow?) throws -> [CopiedRow]

    package init(
        kinds: [String], estimate: Int64, next: @escaping (_ last: CopiedRow?) throws -> [CopiedRow]
    ) {
        self.kinds = kinds
        self.estimate = estimate
        self.next = next
    }
}

/// A part that comes to be out of another's rows; used by one thread.
package struct TakenRows {
    /// What lies in it by now.
    package let rows: CopiedRows
    /// The last row that lies in it, behind which the next ones come; nil while there is none.
    package let last: () throws -> CopiedRow?
    /// Adds the next rows, all of them or none.
    package let append: (_ rows: [CopiedRow]) throws -> Void
    /// Removes what lies in it.
    package let clear: () throws -> Void

    package init(
        rows: CopiedRows, last: @escaping () throws -> CopiedRow?,
        append: @escaping (_ rows: [CopiedRow]) throws -> Void,
        clear: @escaping () throws -> Void
    ) {
        self.rows = rows
        self.last = last
        self.append = append
        self.clear = clear
    }
}

/// What is copied is there already, as another thing of the same name; nothing of the catalog was taken.
package struct CopyRefusal: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension ContainerRecord {
    /// The setting by which a server says that a container is on its way elsewhere, or there; it is not copied.
    package static let movedKey = "moved"

    /// Whether its data are being copied elsewhere or were, so that nobody may use them here.
    package var isElsewhere: Bool { settings[Self.movedKey] != nil }
}
