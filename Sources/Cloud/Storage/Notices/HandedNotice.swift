import CloudModel

/// A notice that goes from hand to hand: from those who found it to one who waits for it.
package struct HandedNotice: Sendable {
    /// The user whose notice it is; nobody else may take it.
    package let user: UserRecordName
    /// What is sent (web-services.md §9).
    package let payload: [UInt8]
    /// Told, on any thread, whether the client's system has it; the one who takes the notice calls it soon.
    ///
    /// The first word counts.
    package let whenSent: @Sendable (Bool) -> Void

    package init(
        user: UserRecordName, payload: [UInt8], whenSent: @escaping @Sendable (Bool) -> Void
    ) {
        self.user = user
        self.payload = payload
        self.whenSent = whenSent
    }
}
