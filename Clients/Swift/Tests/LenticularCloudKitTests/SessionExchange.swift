import CloudKitTransport
import CloudKitWire
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server that knows nothing but sessions: who is signed in by which token.
final class SessionExchange: HTTPExchange {
    private struct State {
        var sessions: [String: String]
        var wanted: Int
        var seen: [(path: String, token: String?)] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var next: [String: String] = [:]
        var late: @Sendable (String, String?) async -> Void = { _, _ in }
    }

    static let page = "http://test.invalid/sign-in"

    private let state: Locked<State>

    /// - Parameter together: so many requests arrive before the first of them is answered.
    init(sessions: [String: String], together: Int = 1) {
        state = Locked(State(sessions: sessions, wanted: together))
    }

    /// Which requests arrive together from now on.
    var together: Int {
        get { state.withLock { $0.wanted } }
        set { state.withLock { $0.wanted = newValue } }
    }

    /// What each answer waits for once it is known, by the path and the token of its request.
    var beforeAnswers: @Sendable (String, String?) async -> Void {
        get { state.withLock { $0.late } }
        set { state.withLock { $0.late = newValue } }
    }

    /// The tokens that answers hand out to requests with others.
    var successors: [String: String] {
        get { state.withLock { $0.next } }
        set { state.withLock { $0.next = newValue } }
    }

    /// The tokens of the requests for zones so far; who is signed in is looked for beside them.
    var tokens: [String?] {
        state.withLock { $0.seen.filter { $0.path.hasSuffix("zones/list") }.map(\.token) }
    }

    func end(_ token: String) { state.withLock { $0.sessions[token] = nil } }

    func begin(_ token: String, of user: String) { state.withLock { $0.sessions[token] = user } }

    func answer(
        to request: URLRequest, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse) {
        guard let url = request.url else { throw URLError(.badURL) }
        let token = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?
            .first { $0.name == "ckWebAuthToken" }?.value
        await arrive(url.path, token)
        let (user, successor) = state.withLock { state in
            (token.flatMap { state.sessions[$0] }, token.flatMap { state.next[$0] })
        }
        await beforeAnswers(url.path, token)
        let body =
            user.map { #"{"userRecordName":"\#($0)","zones":[]}"# }
            ?? #"{"serverErrorCode":"AUTHENTICATION_REQUIRED","reason":"sign in","redirectURL":"\#(Self.page)"}"#
        let headers = successor.map { ["X-Apple-CloudKit-Web-Auth-Token": $0] }
        guard
            let response = HTTPURLResponse(
                url: url, statusCode: user == nil ? 421 : 200, httpVersion: "HTTP/1.1",
                headerFields: headers)
        else { throw URLError(.badServerResponse) }
        return (Data(body.utf8), response)
    }

    /// Waits until as many requests have come as belong together; later ones go on at once.
    private func arrive(_ path: String, _ token: String?) async {
        await withCheckedContinuation { continuation in
            let isLast = state.withLock { state in
                state.seen.append((path, token))
                state.waiting.append(continuation)
                return state.waiting.count >= state.wanted
            }
            if isLast { release() }
            // A test that waits for more than come fails, and does not hang.
            DispatchQueue.global().asyncAfter(deadline: .now() + 20) { [self] in release() }
        }
    }

    private func release() {
        let free = state.withLock { state in
            defer { (state.waiting, state.wanted) = ([], 1) }
            return state.waiting
        }
        for continuation in free { continuation.resume() }
    }

    func answer(
        to request: URLRequest, sending file: URL, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse) {
        throw URLError(.unsupportedURL)
    }

    func file(
        at address: URL, _ timeLimits: TimeLimits
    ) async throws -> (URL, HTTPURLResponse) {
        throw URLError(.unsupportedURL)
    }

    func stream(
        _ request: URLRequest, _ timeLimits: TimeLimits
    ) async throws -> (StreamedBody, HTTPURLResponse) {
        throw URLError(.unsupportedURL)
    }
}
