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

    package let reach: Reach
    /// Whether the actor must have shown who they are within the last ten minutes, which a token cannot.
    package let wantsProof: Bool

    package static let container = ActionRight(reach: .container, wantsProof: false)
    package static let person = ActionRight(reach: .person, wantsProof: false)
    package static let filtered = ActionRight(reach: .filtered, wantsProof: false)
    package static let server = ActionRight(reach: .server, wantsProof: false)

    /// The same for who has just shown who they are: what acts as somebody, hands data out, destroys it or
    /// makes a credential.
    package var proven: ActionRight { ActionRight(reach: reach, wantsProof: true) }
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

    package var description: String {
        switch self {
        case .readOnly: "you may look here, and change nothing"
        case .outOfReach: "it does not exist, or you have no right to it"
        case .proofNeeded: "show again who you are: this wants a sign-in of the last ten minutes"
        case .notByToken: "no operator token may do this: it wants somebody who has just signed in"
        }
    }
}
