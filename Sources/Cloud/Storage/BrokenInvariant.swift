/// Something of a store is not so that always is: a fault of the server or of the disk.
///
/// Thrown before the damage is written, also in release builds; what threw it is undone, and the store stays as it
/// was. It is logged as the failure of the request or the work, and `check` says what else is wrong.
package struct BrokenInvariant: Error, Sendable, Equatable, CustomStringConvertible {
    /// What ought to be so, and of what it is not.
    package let description: String

    package init(_ description: String) { self.description = "broken: \(description)" }
}
