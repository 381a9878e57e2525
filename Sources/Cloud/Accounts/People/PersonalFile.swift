/// A file with everything that the server stores about a person.
///
/// No other process can open it. It goes when its last user closes it.
package struct PersonalFile: Sendable {
    package let descriptor: Int32
    /// Keeps the descriptor open as long as it lives.
    package let owner: any AnyObject & Sendable
    package let byteCount: Int

    package init(descriptor: Int32, owner: any AnyObject & Sendable, byteCount: Int) {
        self.descriptor = descriptor
        self.owner = owner
        self.byteCount = byteCount
    }
}
