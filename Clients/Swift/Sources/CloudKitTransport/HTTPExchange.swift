import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What carries requests to a server: the network, or a server in memory for tests of apps.
package protocol HTTPExchange: Sendable {
    /// Sends a request whose body is in memory.
    func answer(to request: URLRequest) async throws -> (Data, HTTPURLResponse)

    /// Sends a file as a request's body, a piece at a time.
    func answer(to request: URLRequest, sending file: URL) async throws -> (Data, HTTPURLResponse)

    /// Fetches an answer's body into a file that the caller moves or removes.
    func file(at address: URL, seconds: TimeInterval) async throws -> (URL, HTTPURLResponse)

    /// Sends a request whose answer is read as it comes, piece by piece.
    ///
    /// The request's timeout is how long nothing may come.
    func stream(_ request: URLRequest) async throws -> (StreamedBody, HTTPURLResponse)
}

/// The body of an answer, in pieces; who stops reading it ends the request.
package typealias StreamedBody = AsyncThrowingStream<Data, any Error>

/// Requests over the network.
package struct NetworkExchange: HTTPExchange {
    private let session: URLSession
    private let streams: StreamedAnswers

    /// One session for all containers, without cookies and caches: who is signed in is in each request.
    package static let standard: NetworkExchange = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCache = nil
        return NetworkExchange(URLSession(configuration: configuration))
    }()

    package init(_ session: URLSession) {
        self.session = session
        streams = StreamedAnswers(session.configuration)
    }

    package func answer(to request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let (data, response) = try await session.data(for: request)
        return (data, try Self.checked(response))
    }

    package func answer(
        to request: URLRequest, sending file: URL
    ) async throws -> (Data, HTTPURLResponse) {
        let (data, response) = try await session.upload(for: request, fromFile: file)
        return (data, try Self.checked(response))
    }

    package func file(
        at address: URL, seconds: TimeInterval
    ) async throws -> (URL, HTTPURLResponse) {
        let request = URLRequest(url: address, timeoutInterval: seconds)
        let (file, response) = try await session.download(for: request)
        return (file, try Self.checked(response))
    }

    package func stream(_ request: URLRequest) async throws -> (StreamedBody, HTTPURLResponse) {
        try await streams.begin(request)
    }

    private static func checked(_ response: URLResponse) throws -> HTTPURLResponse {
        guard let answer = response as? HTTPURLResponse else {
            throw TransportFailure.unreadable(status: 0)
        }
        return answer
    }
}
