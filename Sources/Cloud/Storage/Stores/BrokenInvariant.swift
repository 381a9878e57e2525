/// Something does not hold that always holds in a sound store: a fault of the server or of the disk.
///
/// An engine throws it before it writes the damage, also in release builds. It undoes what threw it, so the
/// store stays as it was. The server logs it as the failure of the request or the work. The command `check`
/// says what else is wrong.
package struct BrokenInvariant: Error, Sendable, Equatable, CustomStringConvertible {
    /// What ought to hold, and where it does not.
    package let description: String

    package init(_ description: String) { self.description = "broken: \(description)" }
}
