/// The caller that a write, or a read together with others, counts towards: when many wait, callers take turns.
package struct StoreCaller: Hashable, Sendable {
    package let value: UInt64

    /// - Parameter value: the same for all of one caller; two callers may share a value by chance.
    package init(_ value: UInt64) { self.value = value }

    /// Writes that no caller in particular asked for, such as those of commands.
    package static let server = StoreCaller(0)
    /// Work that the store does by itself.
    package static let background = StoreCaller(1)
}
