import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request whose answer is handed on as it comes: the delegate of a session of its own.
final class StreamedAnswer: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Unchecked: what changes is behind the lock.
    private let lock = NSLock()
    private var head: CheckedContinuation<HTTPURLResponse, any Error>?
    private let body: StreamedBody.Continuation

    private init(_ body: StreamedBody.Continuation) { self.body = body }

    /// Sends a request.
    ///
    /// - Returns: the body, and the head as soon as it is there.
    /// - Throws: what the session reports before there is a head.
    static func begin(
        _ request: URLRequest, as configuration: URLSessionConfiguration
    ) async throws -> (StreamedBody, HTTPURLResponse) {
        let (stream, continuation) = StreamedBody.makeStream()
        let answer = StreamedAnswer(continuation)
        let session = URLSession(
            configuration: configuration, delegate: answer, delegateQueue: nil)
        let task = session.dataTask(with: request)
        session.finishTasksAndInvalidate()
        continuation.onTermination = { _ in task.cancel() }
        let response = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { head in
                answer.lock.withLock { answer.head = head }
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
        return (stream, response)
    }

    private func finishHead(_ result: Result<HTTPURLResponse, any Error>) {
        let waiting = lock.withLock {
            defer { head = nil }
            return head
        }
        waiting?.resume(with: result)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        if let answer = response as? HTTPURLResponse {
            finishHead(.success(answer))
            completionHandler(.allow)
        } else {
            finishHead(.failure(TransportFailure.unreadable(status: 0)))
            completionHandler(.cancel)
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
    ) {
        body.yield(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        finishHead(.failure(error ?? TransportFailure.unreadable(status: 0)))
        body.finish(throwing: error)
    }
}
