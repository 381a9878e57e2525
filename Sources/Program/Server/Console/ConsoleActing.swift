import Accounts
import Administration
import CloudModel
import Dispatch
import JSON
import Synchronization

/// `/console/api/session/acting`: an operator's session begins to act as somebody, and ends it.
struct ConsoleActing: Sendable {
    static let words = ["session", "acting"]
    /// How a page says on whose behalf it takes itself to act where it takes itself for nobody's.
    private static let asThemselves = "none"

    let sessions: ActingSessions
    let useCases: AccountUseCases

    /// As whom a caller acts; nil for as themselves.
    ///
    /// - Parameter isUse: whether it is asked for a command, after which it goes on.
    func entry(
        of caller: ConsoleCaller, now: Milliseconds, isUse: Bool = false
    ) throws -> ActingSessions.Entry? {
        guard let session = caller.signedIn?.session,
            let entry = sessions.entry(of: session, now: now, isUse: isUse)
        else { return nil }
        guard try useCases.catalog.account(entry.acting.account) != nil else {
            sessions.end(in: session)
            return nil
        }
        return entry
    }

    /// As `entry`, for a command.
    ///
    /// - Throws: `ConsoleFault`, where the request's page takes itself to act as somebody else.
    func use(by caller: ConsoleCaller, _ request: ConsoleRequest) throws -> ActingSessions.Entry? {
        let entry = try entry(of: caller, now: request.now, isUse: true)
        guard caller.signedIn != nil, let shown = request.http.headers["x-console-acting"],
            shown != entry?.id ?? Self.asThemselves
        else { return entry }
        throw ConsoleFault(
            .actingChanged,
            entry.map { "you act as \($0.acting)" } ?? "you do not act as anybody any more")
    }

    /// - Throws: `ConsoleFault`; what the action refuses.
    func begin(
        _ request: ConsoleRequest, _ caller: ConsoleCaller, by administrator: Administrator
    ) throws {
        guard let session = caller.signedIn?.session else { return }
        let root = try ConsoleSignIn.object(request.http.body)
        guard let email = root["email"]?.string, let container = root["container"]?.string,
            let environment = root["environment"]?.string.flatMap({ Environment(rawValue: $0) })
        else {
            throw ConsoleFault(.usage, "an object with email, container and environment")
        }
        let acting: Acting
        do {
            acting = try administrator.perform(
                ActAs(email, in: NamedEnvironment(container, environment)))
        } catch {
            throw ConsoleFault(of: error)
        }
        sessions.begin(acting, in: session, now: request.now)
    }

    /// Whether what a caller has begun on somebody's behalf may go on, looked at about once a second.
    func validity(
        _ entry: ActingSessions.Entry, of caller: ConsoleCaller, _ request: ConsoleRequest,
        now: @escaping @Sendable () -> Milliseconds
    ) -> @Sendable () -> Bool {
        let looked = Mutex(DispatchTime.now().uptimeNanoseconds)
        return {
            guard let session = caller.signedIn?.session,
                sessions.entry(of: session, now: now())?.id == entry.id
            else { return false }
            let isDue = looked.withLock { last in
                let current = DispatchTime.now().uptimeNanoseconds
                guard current &- last >= Self.lookNanoseconds else { return false }
                last = current
                return true
            }
            guard isDue, let cookie = request.cookie else { return true }
            do {
                return try useCases.operatorSessions.find(cookie, now: now()) != nil
            } catch {
                // NB: who cannot be looked up now is looked up again.
                return true
            }
        }
    }

    private static let lookNanoseconds: UInt64 = 1_000_000_000
}

extension JSONLine {
    /// As whom somebody acts.
    mutating func acting(_ entry: ActingSessions.Entry) {
        key("acting")
        beginObject()
        key("id")
        text(entry.id)
        key("user")
        text(entry.acting.name)
        key("container")
        text(entry.acting.target.container.name)
        key("environment")
        text(entry.acting.target.environment.rawValue)
        key("began")
        number(entry.beganAt)
        key("ends")
        number(entry.endsAt)
        endObject()
    }
}
