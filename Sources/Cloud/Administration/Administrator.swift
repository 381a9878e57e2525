import Storage

/// An operator who acts on a server's data: the one way to every action of this target.
///
/// The command line, the control socket and whatever else lets operators act make one for each person
/// and call `perform`. So the audit log gets each action from one place: who acted, and on what.
package struct Administrator: Sendable {
    /// Who acts.
    package let actor: Operator
    /// On whose behalf they act; nil for as themselves.
    package let acting: Acting?
    private let data: any ServerData
    private let note: @Sendable (ActionEntry) throws -> Void

    /// - Parameters:
    ///   - acting: on whose behalf; nil for as themselves.
    ///   - note: told of each action before it is done; what it cannot note is not done. Called on the thread that
    ///     acts.
    package init(
        _ actor: Operator, as acting: Acting? = nil, on data: any ServerData,
        noting note: @escaping @Sendable (ActionEntry) throws -> Void = { _ in }
    ) {
        self.actor = actor
        self.acting = acting
        self.data = data
        self.note = note
    }

    /// Checks that the operator may do an action, notes it, does it and waits until its outcome is on disk.
    ///
    /// Blocks: never on an event loop.
    ///
    /// - Throws: `OperatorRefusal`; a refusal that says in one line why nothing was done; what the note or the
    ///   machinery reports.
    package func perform<Action: AdministrativeAction>(
        _ action: Action
    ) throws -> Action.Outcome {
        let now = data.clock.now()
        let check = RightsCheck(of: actor, as: acting, in: data, now: now)
        let subject = try check.subject(of: action)
        try note(
            ActionEntry(
                moment: now, actor: actor, action: action.name, changes: action.changes,
                isNoted: action.isNoted, subject: subject))
        if action.looksAtPrivateData, let account = subject.account {
            try data.accountUseCases.catalog.note(
                OperatorLook(
                    account: account, time: now, by: actor.kind, action: action.name,
                    container: subject.container))
        }
        return try action.run(in: data, by: actor)
    }
}
