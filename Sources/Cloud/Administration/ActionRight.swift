/// Which operators may do an action; those who may only look never do one that changes anything.
package struct ActionRight: Sendable, Equatable {
    package enum Reach: Sendable, Equatable {
        /// Who has the container of the action's subject. Where the subject has none, who has all.
        case container
        /// Who has all containers; who has some, where the action only looks and the subject's account has data in
        /// one of them.
        case person
        /// Every operator: the action itself leaves out what the actor does not have.
        case filtered
        /// Who has all containers.
        case server
    }

    /// What the actor must have done before, which a token cannot.
    package enum Proof: Sendable, Equatable {
        case none
        /// To have shown who they are within the last ten minutes.
        case recent
        /// To act as the subject's account (`ActAs`), where they came by the network.
        case acting
    }

    package let reach: Reach
    package let proof: Proof
    /// Whether it goes by the rules that hold for one person: who acts as somebody does it for them alone.
    ///
    /// Of everything else, they look at what is nobody's own, and change nothing.
    package let isOfPerson: Bool

    private init(_ reach: Reach, _ proof: Proof = .none, isOfPerson: Bool = false) {
        self.reach = reach
        self.proof = proof
        self.isOfPerson = isOfPerson
    }

    package static let container = ActionRight(.container)
    package static let person = ActionRight(.person)
    package static let filtered = ActionRight(.filtered)
    package static let server = ActionRight(.server)

    /// The same for operators who have just shown who they are: what begins to act as somebody, hands data out,
    /// destroys it or makes a credential.
    package var proven: ActionRight { ActionRight(reach, .recent, isOfPerson: isOfPerson) }

    /// The same for who acts as the subject's account.
    package var onBehalf: ActionRight { ActionRight(reach, .acting, isOfPerson: true) }

    /// The same, for the person alone as whom the actor acts, where they act as somebody.
    package var ofPerson: ActionRight { ActionRight(reach, proof, isOfPerson: true) }
}

/// Why an operator may not do what they ask for; nothing was done.
package enum OperatorRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// They may look only.
    case readOnly
    /// It is of a container or a person that they do not have, or not there: they are not told which.
    case outOfReach
    /// They must show again who they are.
    case proofNeeded
    /// A token may never do it.
    case notByToken
    /// They act as somebody, and this is not that person's.
    case acts(Acting)
    /// It is done on somebody's behalf, and they do not act as that person.
    case doesNotAct

    package var description: String {
        switch self {
        case .readOnly: "you may look here, and change nothing"
        case .outOfReach: "it does not exist, or you have no right to it"
        case .proofNeeded: "show again who you are: this wants a sign-in of the last ten minutes"
        case .acts(let acting): "you act as \(acting): stop that first"
        case .doesNotAct: "you do not act as this person here: begin that first"
        case .notByToken: "no operator token may do this: it wants somebody who has just signed in"
        }
    }
}
