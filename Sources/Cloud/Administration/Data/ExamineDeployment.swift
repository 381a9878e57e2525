/// One thing that was looked at because a server needs it, and how it is.
package struct Finding: Sendable, Equatable {
    package enum Level: String, Sendable {
        case good
        /// Something that many hosts would do otherwise.
        case advice
        /// Something that loses data, shows it to others or keeps people out.
        case problem
    }

    /// What was looked at, in a word or two.
    package let subject: String
    package let level: Level
    package let text: String
    /// What to do about it; empty where all is good.
    package let remedy: String

    package static func good(_ subject: String, _ text: String) -> Finding {
        Finding(subject: subject, level: .good, text: text, remedy: "")
    }

    package static func advice(_ subject: String, _ text: String, remedy: String) -> Finding {
        Finding(subject: subject, level: .advice, text: text, remedy: remedy)
    }

    package static func problem(_ subject: String, _ text: String, remedy: String) -> Finding {
        Finding(subject: subject, level: .problem, text: text, remedy: remedy)
    }
}

/// Looks at what surrounds the data: the disk, the network, what letters and backups need.
package struct ExamineDeployment: AdministrativeAction {
    package init() {}

    package var name: String { "doctor" }

    package var right: ActionRight { .server }

    package var changes: Bool { false }

    /// - Returns: a finding for each thing that was looked at; asks the public address and the mail server, each
    ///   for some seconds at most.
    package func run(in data: any ServerData, by actor: Operator) throws -> [Finding] {
        try data.examine()
    }
}
