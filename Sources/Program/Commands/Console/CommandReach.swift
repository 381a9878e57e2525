import Storage

/// For whom a command can do anything at all, so that a page shows no button that never works.
///
/// Only the actions themselves decide what is done (`RightsCheck`): a command may still be refused in a container, or
/// with some of its arguments.
package struct CommandReach: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It changes nothing, at least with some arguments.
    static let looks = CommandReach(rawValue: 1)
    /// It is about more than some containers, whatever its arguments are.
    static let everywhere = CommandReach(rawValue: 2)
    /// It is for the person where an operator acts as one, whether or not that is said.
    static let person = CommandReach(rawValue: 4)
    /// It looks, as the operator who acts as somebody, at what is nobody's own.
    static let own = CommandReach(rawValue: 8)

    func allows(_ rights: OperatorRights) -> Bool {
        (rights.hasAllContainers || !contains(.everywhere))
            && (!rights.isReadOnly || contains(.looks))
    }
}

/// What becomes of a command of an operator who acts as somebody.
enum CommandActing: String {
    case person, own, refused

    init(of command: Command) {
        self =
            command.reach.contains(.person)
            ? .person : command.reach.contains(.own) ? .own : .refused
    }
}
