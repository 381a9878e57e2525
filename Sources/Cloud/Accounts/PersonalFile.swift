/// A file that holds all that is kept of somebody; nobody else can open it, and it goes with its last user.
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
