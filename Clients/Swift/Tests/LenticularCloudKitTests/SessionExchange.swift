import CloudKitTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server that knows nothing but sessions: who is signed in by which token.
final class SessionExchange: HTTPExchange, @unchecked Sendable {
    // Unchecked: everything is behind the lock.
    static let page = "http://test.invalid/sign-in"

    private let lock = NSLock()
    private var sessions: [String: String]
    private var seen: [(path: String, token: String?)] = []
    private var wanted: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var next: [String: String] = [:]
    private var late: @Sendable (String, String?) async -> Void = { _, _ in }

    /// - Parameter together: so many requests arrive before the first of them is answered.
    init(sessions: [String: String], together: Int = 1) {
        self.sessions = sessions
        wanted = together
    }

    /// Which requests arrive together from now on.
    var together: Int {
        get { lock.withLock { wanted } }
        set { lock.withLock { wanted = newValue } }
    }

    /// What each answer waits for once it is known, by the path and the token of its request.
    var beforeAnswers: @Sendable (String, String?) async -> Void {
        get { lock.withLock { late } }
        set { lock.withLock { late = newValue } }
    }

    /// The tokens that answers hand out to requests with others.
    var successors: [String: String] {
        get { lock.withLock { next } }
        set { lock.withLock { next = newValue } }
    }

    /// The tokens of the requests for zones so far; who is signed in is looked for beside them.
    var tokens: [String?] {
        lock.withLock { seen.filter { $0.path.hasSuffix("zones/list") }.map(\.token) }
    }

    func end(_ token: String) { lock.withLock { sessions[token] = nil } }

    func begin(_ token: String, of user: String) { lock.withLock { sessions[token] = user } }

    func answer(
        to request: URLRequest, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse) {
        guard let url = request.url else { throw URLError(.badURL) }
        let token = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?
            .first { $0.name == "ckWebAuthToken" }?.value
        await arrive(url.path, token)
        let (user, successor) = lock.withLock {
            (token.flatMap { sessions[$0] }, token.flatMap { next[$0] })
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
            let isLast = lock.withLock {
                seen.append((path, token))
                waiting.append(continuation)
                return waiting.count >= wanted
            }
            if isLast { release() }
            // A test that waits for more than come fails, and does not hang.
            DispatchQueue.global().asyncAfter(deadline: .now() + 20) { [self] in release() }
        }
    }

    private func release() {
        let free = lock.withLock {
            defer {
                waiting = []
                wanted = 1
            }
            return waiting
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
