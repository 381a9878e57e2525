import CloudModel
import Storage

/// Whether an operator may do an action: the one place where that is decided.
struct RightsCheck {
    /// How old the proof of an identity may be, where an action wants one.
    static let proofMilliseconds: Milliseconds = 600_000

    private let actor: Operator
    private let acting: Acting?
    private let data: any ServerData
    private let now: Milliseconds

    /// - Parameter acting: on whose behalf the operator acts; nil for as themselves.
    init(
        of actor: Operator, as acting: Acting?, in data: any ServerData, now: Milliseconds
    ) {
        self.actor = actor
        self.acting = acting
        self.data = data
        self.now = now
    }

    /// What an action is about, once it is clear that the operator may do it.
    ///
    /// Who has some containers is told the same of what is not there and of what is not theirs.
    ///
    /// - Throws: `OperatorRefusal`; as `AdministrativeAction.subject` for who has all containers.
    func subject(of action: some AdministrativeAction) throws -> ActionSubject {
        let (rights, right) = (actor.rights, action.right)
        if rights.isReadOnly, action.changes { throw OperatorRefusal.readOnly }
        if let acting, action.changes, !right.isOfPerson { throw OperatorRefusal.acts(acting) }
        guard let containers = rights.containers else {
            try requireProof(right)
            let subject = try action.subject(in: data)
            try requireActing(right, subject, action)
            return subject
        }
        if right.reach == .server { throw OperatorRefusal.outOfReach }
        let subject: ActionSubject
        do {
            subject = try action.subject(in: data)
        } catch let failure as StorageFailure {
            throw failure
        } catch {
            throw OperatorRefusal.outOfReach
        }
        guard try isWithin(containers, subject, action) else { throw OperatorRefusal.outOfReach }
        try requireProof(right)
        try requireActing(right, subject, action)
        return subject
    }

    private func requireProof(_ right: ActionRight) throws(OperatorRefusal) {
        if right.proof != .none, actor.kind == .token { throw .notByToken }
        guard right.proof == .recent, !actor.hasProved(since: now - Self.proofMilliseconds) else {
            return
        }
        throw .proofNeeded
    }

    /// Who acts as somebody does what is that person's, and else only looks at what is nobody's own.
    private func requireActing(
        _ right: ActionRight, _ subject: ActionSubject, _ action: some AdministrativeAction
    ) throws(OperatorRefusal) {
        guard let acting else {
            if right.proof == .acting, actor.kind == .account { throw .doesNotAct }
            return
        }
        guard right.isOfPerson || action.looksAtPrivateData else { return }
        guard acting.covers(subject) else { throw .acts(acting) }
    }

    private func isWithin(
        _ containers: Set<ContainerID>, _ subject: ActionSubject,
        _ action: some AdministrativeAction
    ) throws -> Bool {
        if let container = subject.container, !containers.contains(container) { return false }
        if let account = subject.account, try !hasData(account, in: containers) { return false }
        switch action.right.reach {
        case .container: return subject.container != nil
        case .person: return !action.changes && subject.account != nil
        case .filtered: return true
        case .server: return false
        }
    }

    /// Whether one of some containers has come to know an account.
    private func hasData(_ account: AccountID, in containers: Set<ContainerID>) throws -> Bool {
        try !data.accountUseCases.catalog.containers(
            ListRequest(limit: 1), usedBy: account, among: containers
        ).items.isEmpty
    }
}
