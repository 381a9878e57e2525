import CloudModel

/// What is noted of an action before it is done.
package struct ActionEntry: Sendable, Equatable {
    package let moment: Milliseconds
    package let actor: Operator
    /// `AdministrativeAction.name`.
    package let action: String
    /// Whether the action may change anything.
    package let changes: Bool
    /// `AdministrativeAction.isNoted`.
    package let isNoted: Bool
    package let subject: ActionSubject

    package init(
        moment: Milliseconds, actor: Operator, action: String, changes: Bool,
        isNoted: Bool, subject: ActionSubject
    ) {
        self.moment = moment
        self.actor = actor
        self.action = action
        self.changes = changes
        self.isNoted = isNoted
        self.subject = subject
    }
}
