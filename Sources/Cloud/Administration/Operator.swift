/// An operator, who may act on a server's data.
package enum Operator: Sendable, Equatable {
    /// The user who gave a command on the server's own machine, by their user number there.
    case commandLine(userNumber: UInt32)

    /// How the history of a schema names somebody who changed it by an action.
    func author(of action: String) -> String {
        switch self {
        case .commandLine: "lenticular \(action)"
        }
    }
}

extension Operator: CustomStringConvertible {
    package var description: String {
        switch self {
        case .commandLine(let number): "user \(number) of this machine"
        }
    }
}
