import Foundation

/// The token of the signed-in user, as one request hands it to the next.
///
/// The server answers with successors, and says when a session has ended. Requests that find it ended at the
/// same time wait for one sign-in.
actor WebToken {
    private var token: String?
    private var signingIn: Task<String, any Error>?
    private let signIn: (@Sendable (URL) async throws -> String)?
    private let onChange: @Sendable (String?) -> Void
    private let onAccountChange: @Sendable () -> Void
    /// Grows whenever somebody else may be signed in than before.
    private(set) var generation = 0
    /// How often somebody was asked to sign in, whatever came of it.
    private var asked = 0

    /// What a request leaves with.
    struct Ticket: Sendable {
        let token: String?
        fileprivate let asked: Int
    }

    /// The person did not sign in.
    struct NotSignedIn: Error {}

    /// - Parameters:
    ///   - onChange: told of every token that takes the place of another; nil when a session has ended.
    ///   - onAccountChange: told when somebody else may be signed in than before.
    init(
        _ credentials: ServerAccess.Credentials,
        onChange: @escaping @Sendable (String?) -> Void = { _ in },
        onAccountChange: @escaping @Sendable () -> Void = {}
    ) {
        self.onChange = onChange
        self.onAccountChange = onAccountChange
        switch credentials {
        case .webAuthToken(let token):
            self.token = token
            signIn = nil
        case .signIn(let closure): signIn = closure
        case .none, .serverKey: signIn = nil
        }
    }

    var current: Ticket { Ticket(token: token, asked: asked) }

    /// Takes over a successor of the token that a request was sent with.
    ///
    /// What comes late, after another has taken over, is left.
    func renew(_ sent: String?, to fresh: String) {
        guard token == sent, token != fresh else { return }
        token = fresh
        onChange(fresh)
    }

    /// Signs in, unless another request has done so since this one was sent.
    ///
    /// - Returns: a token to send the request with again; nil when there is no way to sign in.
    /// - Throws: `NotSignedIn`, and what the closure throws; to requests too that were sent before it did, so that
    ///   nobody is asked twice.
    func signInAgain(after sent: Ticket, at page: URL?) async throws -> String? {
        if let token, token != sent.token { return token }
        if let signingIn { return try await signingIn.value }
        guard sent.asked == asked else { throw NotSignedIn() }
        end()
        guard let signIn, let page else { return nil }
        let task = Task { try await signIn(page) }
        signingIn = task
        defer {
            signingIn = nil
            asked += 1
        }
        let fresh = try await task.value
        token = fresh
        generation += 1
        onChange(fresh)
        onAccountChange()
        return fresh
    }

    /// Notes that the session is over.
    private func end() {
        guard token != nil else { return }
        token = nil
        generation += 1
        onChange(nil)
        if signIn == nil { onAccountChange() }
    }
}
