import CloudModel
import Storage

/// An operator, who may act on a server's data.
package enum Operator: Sendable, Equatable {
    /// The user who gave a command on the server's own machine, by their user number there; may do all.
    case commandLine(userNumber: UInt32)
    /// Somebody with an account, who signed in.
    ///
    /// - Parameter provedAt: when they last showed who they are.
    case account(AccountID, OperatorRights, provedAt: Milliseconds)
    /// A script, by the name of its token; it never shows who it is.
    case token(name: String, OperatorRights)

    package var rights: OperatorRights {
        switch self {
        case .commandLine: .all
        case .account(_, let rights, _), .token(_, let rights): rights
        }
    }

    /// In a word, for people whose data was looked at.
    package var kind: OperatorKind {
        switch self {
        case .commandLine: .commandLine
        case .account: .account
        case .token: .token
        }
    }

    /// Whether they have shown who they are since a moment.
    func hasProved(since moment: Milliseconds) -> Bool {
        switch self {
        case .commandLine: true
        case .account(_, _, let provedAt): provedAt > moment
        case .token: false
        }
    }

    /// How the history of a schema names somebody who changed it by an action.
    func author(of action: String) -> String {
        switch self {
        case .commandLine: "lenticular \(action)"
        case .account, .token: "\(self): \(action)"
        }
    }
}

extension Operator: CustomStringConvertible {
    package var description: String {
        switch self {
        case .commandLine(let number): "user \(number) of this machine"
        case .account(let account, _, _): "operator \(account.text)"
        case .token(let name, _): "operator token \(name)"
        }
    }
}
