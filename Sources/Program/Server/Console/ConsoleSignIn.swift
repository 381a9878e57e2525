import Accounts
import CloudModel
import JSON
import Storage

/// `/console/api/session`: an operator's coming and going.
struct ConsoleSignIn: Sendable {
    let useCases: AccountUseCases
    let wantsSecondFactor: Bool
    let acting: ActingSessions

    /// Signs an operator in; a session that the browser has ends.
    ///
    /// Blocks for as long as a password takes.
    ///
    /// - Throws: `ConsoleFault`; what the catalog reports.
    func begin(
        _ request: ConsoleRequest
    ) throws -> (answer: ConsoleAnswer, cookie: (name: String, value: String)) {
        guard request.isOfOwnPage else {
            throw ConsoleFault(.foreignPage, "send application/json from a page of this address")
        }
        let root = try Self.object(request.http.body)
        guard let email = root["email"]?.string, let password = root["password"]?.string else {
            throw ConsoleFault(.usage, "an object with email, password and, where asked for, code")
        }
        let outcome = try useCases.operatorSessions.begin(
            OperatorSessions.Attempt(
                address: email, password: Array(password.utf8), code: root["code"]?.string,
                client: request.client),
            wantsSecondFactor: wantsSecondFactor, now: request.now)
        switch outcome {
        case .signedIn(let cookie, let seconds):
            guard let found = try useCases.operatorSessions.find(cookie, now: request.now) else {
                throw ConsoleFault(.wrong, Self.wrong)
            }
            try useCases.note("operator sign-in", found.record.account, request.now)
            if let former = request.cookie,
                let session = try useCases.operatorSessions.find(former, now: request.now)?.session
            {
                try useCases.operatorSessions.end(session)
                if session.account == found.session.account {
                    acting.move(from: session, to: found.session)
                } else {
                    acting.end(in: session)
                }
            }
            return (
                try state(of: found, acting.entry(of: found.session, now: request.now)),
                request.setting(cookie: cookie, seconds: seconds)
            )
        case .wrong: throw ConsoleFault(.wrong, Self.wrong)
        case .codeNeeded: throw ConsoleFault(.codeNeeded, "the code of your second factor, too")
        case .secondFactorMissing:
            throw ConsoleFault(
                .secondFactorMissing, "set up a second factor at /account/second-factor first")
        case .wait(let seconds):
            throw ConsoleFault(.wait, "too many attempts", seconds: seconds)
        case .unavailable:
            throw ConsoleFault(.unavailable, "passwords cannot be checked right now", seconds: 5)
        }
    }

    /// Who is signed in, and what their page has to show.
    ///
    /// - Parameter acting: as whom they act; nil for as themselves.
    func state(
        of signedIn: OperatorSessions.SignedIn, _ acting: ActingSessions.Entry?
    ) throws -> ConsoleAnswer {
        let rights = signedIn.record.rights
        var line = JSONLine()
        line.beginObject()
        line.key("accountID")
        line.text(signedIn.record.account.text)
        line.key("email")
        line.text(try useCases.catalog.account(signedIn.record.account)?.email ?? "")
        line.key("readOnly")
        line.flag(rights.isReadOnly)
        line.key("allContainers")
        line.flag(rights.hasAllContainers)
        if let containers = rights.containers {
            line.key("containers")
            line.beginArray()
            for name in containers.map(\.name).sorted() { line.text(name) }
            line.endArray()
        }
        line.key("proved")
        line.number(signedIn.session.provedAt)
        line.key("expires")
        line.number(signedIn.session.expiresAt)
        line.key("page")
        line.text(signedIn.pageSecret)
        if let acting { line.acting(acting) }
        line.endObject()
        return ConsoleAnswer(body: line.bytes)
    }

    private static let wrong = "no operator has this address, password and code"

    static func object(_ body: [UInt8]) throws(ConsoleFault) -> JSONValue {
        // NB: whatever is not JSON is refused like JSON of another form.
        guard let root = (try? JSONDocument(parsing: body))?.root, root.kind == .object else {
            throw ConsoleFault(.usage, "the body is no JSON object")
        }
        return root
    }
}
