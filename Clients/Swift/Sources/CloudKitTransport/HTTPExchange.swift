import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What carries requests to a server: the network, or a server in memory for tests of apps.
///
/// Failures that are `URLError`s, or a `BrokenRequest` with one, are told apart.
package protocol HTTPExchange: Sendable {
    /// Sends a request whose body is in memory.
    func answer(
        to request: URLRequest, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse)

    /// Sends a file as a request's body, a piece at a time.
    func answer(
        to request: URLRequest, sending file: URL, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse)

    /// Fetches an answer's body into a file that the caller moves or removes.
    func file(at address: URL, _ timeLimits: TimeLimits) async throws -> (URL, HTTPURLResponse)

    /// Sends a request whose answer is read as it comes, piece by piece.
    func stream(
        _ request: URLRequest, _ timeLimits: TimeLimits
    ) async throws -> (StreamedBody, HTTPURLResponse)
}

/// The body of an answer, in pieces; who stops reading it ends the request.
package typealias StreamedBody = AsyncThrowingStream<Data, any Error>

/// Requests over the network.
package struct NetworkExchange: HTTPExchange {
    private let session: URLSession
    private let requests: WatchedRequests

    /// One session for all containers, without cookies and caches: who is signed in is in each request.
    package static let standard: NetworkExchange = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        return NetworkExchange(configuration)
    }()

    /// Makes a session, which lives as long as the process.
    package init(_ configuration: URLSessionConfiguration, clock: RequestClock = .real) {
        requests = WatchedRequests(clock)
        #if canImport(FoundationNetworking)
            let queue: OperationQueue? = NarrowQueue()
        #else
            let queue: OperationQueue? = nil
        #endif
        session = URLSession(
            configuration: configuration, delegate: requests, delegateQueue: queue)
    }

    package func answer(
        to request: URLRequest, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse) {
        try await whole(session.dataTask(with: prepared(request, timeLimits)), timeLimits)
    }

    package func answer(
        to request: URLRequest, sending file: URL, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse) {
        try await whole(
            session.uploadTask(with: prepared(request, timeLimits), fromFile: file), timeLimits)
    }

    package func file(
        at address: URL, _ timeLimits: TimeLimits
    ) async throws -> (URL, HTTPURLResponse) {
        let place = FileManager.default.temporaryDirectory
            .appendingPathComponent("download-\(UUID().uuidString)")
        try Data().write(to: place)
        do {
            let file = try FileHandle(forWritingTo: place)
            defer { try? file.close() }
            let task = session.dataTask(with: prepared(URLRequest(url: address), timeLimits))
            let (body, answer) = try await requests.begin(task, timeLimits, into: file)
            for try await _ in body {}
            try Task.checkCancellation()
            return (place, answer)
        } catch {
            try? FileManager.default.removeItem(at: place)
            throw error
        }
    }

    package func stream(
        _ request: URLRequest, _ timeLimits: TimeLimits
    ) async throws -> (StreamedBody, HTTPURLResponse) {
        try await requests.begin(
            session.dataTask(with: prepared(request, timeLimits)), timeLimits)
    }

    /// A request with the system's own limit, where it keeps one.
    ///
    /// It comes a little later than ours, which knows what has left, and in whole seconds: fractions are cut off on
    /// Linux.
    private func prepared(_ request: URLRequest, _ timeLimits: TimeLimits) -> URLRequest {
        var request = request
        request.timeoutInterval = timeLimits.silenceSeconds.rounded(.up) + 1
        return request
    }

    private func whole(
        _ task: URLSessionTask, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse) {
        let (body, answer) = try await requests.begin(task, timeLimits)
        var data = Data()
        for try await piece in body { data.append(piece) }
        // A stream ends without a word when its reader is cancelled.
        try Task.checkCancellation()
        return (data, answer)
    }
}
