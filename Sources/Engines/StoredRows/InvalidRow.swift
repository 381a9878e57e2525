import Storage

/// A row that no version of this server writes, such as one on a disk that has decayed.
package struct InvalidRow: EngineFault {
    /// The table that has the row, or what else it was read from.
    package let table: String

    package init(table: String) { self.table = table }

    package var finding: EngineFinding { .damaged }
    package var description: String { "a row of \(table) is not what this server writes" }
}
