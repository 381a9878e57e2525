import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests whose answers are handed on as they come: the delegate of one session for all of them.
final class StreamedAnswers: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Unchecked: what changes is behind the lock.
    private let lock = NSLock()
    private let configuration: URLSessionConfiguration
    private var made: URLSession?
    private var answers: [Int: Answer] = [:]

    private struct Answer {
        var head: CheckedContinuation<HTTPURLResponse, any Error>?
        let body: StreamedBody.Continuation
    }

    init(_ configuration: URLSessionConfiguration) { self.configuration = configuration }

    /// Made when it is first needed: most programs stream nothing.
    private func session() -> URLSession {
        lock.withLock {
            if let made { return made }
            let session = URLSession(
                configuration: configuration, delegate: self, delegateQueue: nil)
            made = session
            return session
        }
    }

    /// Sends a request.
    ///
    /// - Returns: the body, and the head as soon as it is there.
    /// - Throws: what the session reports before there is a head.
    func begin(_ request: URLRequest) async throws -> (StreamedBody, HTTPURLResponse) {
        let (stream, continuation) = StreamedBody.makeStream()
        let task = session().dataTask(with: request)
        continuation.onTermination = { _ in task.cancel() }
        let response = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { head in
                lock.withLock {
                    answers[task.taskIdentifier] = Answer(head: head, body: continuation)
                }
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
        return (stream, response)
    }

    private func finishHead(of task: URLSessionTask, _ result: Result<HTTPURLResponse, any Error>) {
        let waiting = lock.withLock {
            defer { answers[task.taskIdentifier]?.head = nil }
            return answers[task.taskIdentifier]?.head
        }
        waiting?.resume(with: result)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        if let answer = response as? HTTPURLResponse {
            finishHead(of: dataTask, .success(answer))
            completionHandler(.allow)
        } else {
            finishHead(of: dataTask, .failure(TransportFailure.unreadable(status: 0)))
            completionHandler(.cancel)
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
    ) {
        let body = lock.withLock { answers[dataTask.taskIdentifier]?.body }
        body?.yield(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        finishHead(of: task, .failure(error ?? TransportFailure.unreadable(status: 0)))
        let ended = lock.withLock { answers.removeValue(forKey: task.taskIdentifier) }
        ended?.body.finish(throwing: error)
    }
}
