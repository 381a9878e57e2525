import CloudModel

/// One thing that operators do to a server's data, as a value that holds all that was asked for.
///
/// Values come as people give them: each action checks what it is given, and says in one line what is
/// wrong. It never parses an argument and never prints.
package protocol AdministrativeAction {
    associatedtype Outcome: Sendable

    /// Names the action in notes and in a schema's history, such as `container create`.
    var name: String { get }

    /// Whether it may change anything.
    var changes: Bool { get }

    /// Which operators may do it. What is not declared is only for who has all containers and has just shown who they
    /// are.
    var right: ActionRight { get }

    /// Whether it shows what one person keeps for themselves. Then the person is told on their account's page, where
    /// the subject has an account, and it is kept in the audit log.
    var looksAtPrivateData: Bool { get }

    /// Whether it is kept in the audit log: what changes something, or takes users' data away.
    var isNoted: Bool { get }

    /// What it is about, looked up before it is done.
    ///
    /// - Throws: the refusal that `run` would throw, for what is not there.
    func subject(in data: any ServerData) throws -> ActionSubject

    /// Does it; only `Administrator.perform` calls this.
    func run(in data: any ServerData, by actor: Operator) throws -> Outcome
}

extension AdministrativeAction {
    package var changes: Bool { true }

    package var right: ActionRight { .server.proven }

    package var looksAtPrivateData: Bool { false }

    package var isNoted: Bool { changes || looksAtPrivateData }

    package func subject(in data: any ServerData) throws -> ActionSubject { ActionSubject() }
}

/// What an action is about, by names that stay in notes for ever: never an address of a person.
package struct ActionSubject: Sendable, Equatable {
    package var container: ContainerID?
    package var environment: Environment?
    /// The account's address.
    package var account: AccountID?
    /// Which token, key or role.
    package var item: String?

    package init(
        container: ContainerID? = nil, environment: Environment? = nil, account: AccountID? = nil,
        item: String? = nil
    ) {
        self.container = container
        self.environment = environment
        self.account = account
        self.item = item
    }
}
