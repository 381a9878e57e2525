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

/// How a command hands on more than an answer holds.
package enum ConsoleStreaming: Sendable {
    /// The answer goes on as it is made.
    case answer
    /// The request's body is what the command reads; its arguments are in the query.
    case body
}

/// One request and its answer, as a command uses them that streams; everything here blocks.
package protocol ConsoleStream: Sendable {
    /// Whether nobody waits for the command any more.
    var isGone: Bool { get }

    /// The next piece of the request's body; empty at its end, nil when the rest does not come.
    func read() -> [UInt8]?

    /// Sends the next piece of the answer, which begins with the first one.
    ///
    /// - Parameter type: of the whole answer.
    /// - Returns: false when nobody waits for it any more.
    func send(_ bytes: [UInt8], as type: String) -> Bool
}

/// Of a request that has come whole, and is answered at once.
package struct NoConsoleStream: ConsoleStream {
    package init() {}

    package var isGone: Bool { false }

    package func read() -> [UInt8]? { [] }

    package func send(_ bytes: [UInt8], as type: String) -> Bool { false }
}

/// What the operators' interface is made of, handed in because the server knows no command.
package struct ConsoleAccess: Sendable {
    /// Answers; what has gone through the stream before is the answer instead, where anything has.
    package typealias Answering =
        @Sendable (
            ConsoleAsk, Administrator, any ConsoleStream
        ) -> ConsoleAnswer
    /// How a command streams, by its words; nil for one that does not.
    package typealias Streams = @Sendable ([String]) -> ConsoleStreaming?

    let answer: Answering
    let streams: Streams
    /// False only where everybody is on this machine.
    let wantsSecondFactor: Bool
    let described: DescribedConsole

    /// - Parameter commands: as `/openapi.json` describes them, a path each.
    package init(
        wantsSecondFactor: Bool = true, commands: [DescribedConsole.Member] = [],
        streams: @escaping Streams, answer: @escaping Answering
    ) {
        described = DescribedConsole(commands: commands)
        self.answer = answer
        self.streams = streams
        self.wantsSecondFactor = wantsSecondFactor
    }
}
