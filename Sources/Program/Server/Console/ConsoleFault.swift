import JSON

/// Why the operators' interface did not do what it was asked: a word of a closed set, and a line for people.
package struct ConsoleFault: Error, Sendable, Equatable {
    package enum Code: String, Sendable, CaseIterable {
        /// The arguments are not what the command takes.
        case usage = "USAGE"
        /// Nobody is signed in, or the token is not good.
        case unauthenticated = "UNAUTHENTICATED"
        /// Address, password or code are wrong.
        case wrong = "WRONG"
        /// The operator's second factor is asked for.
        case codeNeeded = "CODE_NEEDED"
        /// The operator has to set up a second factor first.
        case secondFactorMissing = "SECOND_FACTOR_MISSING"
        /// A cookie came from a page that did not show that it is the interface's own.
        case foreignPage = "FOREIGN_PAGE"
        /// The network address is not among those of `console.allow`.
        case addressRefused = "ADDRESS_REFUSED"
        /// The operator has no right to it.
        case forbidden = "FORBIDDEN"
        /// The operator has to sign in again first.
        case proofNeeded = "PROOF_NEEDED"
        /// There is nothing here.
        case noCommand = "NO_COMMAND"
        /// What the command is about does not exist.
        case unknown = "UNKNOWN"
        case methodRefused = "METHOD_REFUSED"
        /// The operator acts as somebody, and this is not for that person: they have to stop first.
        case acting = "ACTING"
        /// The command is for who acts as the person.
        case notActing = "NOT_ACTING"
        /// The operator does not act as their page takes them to: it asks anew on whose behalf it is.
        case actingChanged = "ACTING_CHANGED"
        /// The command does it once it is asked with `yes`.
        case needsYes = "NEEDS_YES"
        /// The command refuses; the reason says why.
        case refused = "REFUSED"
        /// Too many guesses, or too much at a time.
        case wait = "WAIT"
        /// It may work later.
        case unavailable = "UNAVAILABLE"
        /// The server is at fault.
        case failed = "FAILED"

        package var status: Int {
            switch self {
            case .usage: 400
            case .unauthenticated, .wrong, .codeNeeded: 401
            case .secondFactorMissing, .foreignPage, .addressRefused, .forbidden, .proofNeeded: 403
            case .noCommand, .unknown: 404
            case .methodRefused: 405
            case .needsYes, .acting, .notActing, .actingChanged: 409
            case .refused: 422
            case .wait: 429
            case .failed: 500
            case .unavailable: 503
            }
        }
    }

    package let code: Code
    /// One line.
    package let reason: String
    /// When to come again; nil for no such moment.
    package var seconds: Int?
    /// What the command would do, as a JSON object; nil for nothing to show.
    package var shown: [UInt8]?

    package init(_ code: Code, _ reason: String, seconds: Int? = nil, shown: [UInt8]? = nil) {
        self.code = code
        self.reason = reason.split(whereSeparator: \.isNewline).joined(separator: " ")
        self.seconds = seconds
        self.shown = shown
    }

    package var answer: ConsoleAnswer {
        var line = JSONLine()
        line.beginObject()
        line.key("error")
        line.text(code.rawValue)
        line.key("reason")
        line.text(reason)
        if let seconds {
            line.key("retryAfter")
            line.number(Int64(seconds))
        }
        line.endObject()
        var body = line.bytes
        if let shown {
            body.removeLast()
            body += Array(",\"shown\":".utf8) + shown + [UInt8(ascii: "}")]
        }
        return ConsoleAnswer(status: code.status, body: body)
    }
}
