import Administration

/// What an operator asks of the interface, once it is known who they are.
package enum ConsoleAsk: Sendable {
    /// What there is to ask for.
    case list
    /// To run a command, with a JSON object of its arguments; an empty body for none.
    case run(words: [String], body: [UInt8])
}

/// What they are answered: a JSON text.
package struct ConsoleAnswer: Sendable, Equatable {
    package let status: Int
    package let body: [UInt8]
    /// Whether the command ran and its answer is bad news, as exit status 1 is on the command line.
    package var isBadNews = false

    package init(status: Int = 200, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// What the operators' interface is made of, handed in because the server knows no command.
package struct ConsoleAccess: Sendable {
    package typealias Answering = @Sendable (ConsoleAsk, Administrator) -> ConsoleAnswer

    let answer: Answering
    /// False only where everybody is on this machine.
    let wantsSecondFactor: Bool

    package init(wantsSecondFactor: Bool = true, answer: @escaping Answering) {
        self.answer = answer
        self.wantsSecondFactor = wantsSecondFactor
    }
}
