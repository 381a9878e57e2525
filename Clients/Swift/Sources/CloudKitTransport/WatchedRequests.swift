import CloudKitWire
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Why a request over the network has no whole answer.
package struct BrokenRequest: Error {
    package let cause: any Error
    /// Whether any of its body has left the device: what it asks for may have been done.
    package let hasLeft: Bool
}

/// The requests of one session, whose delegate this is: their answers are handed on as they come, and those whose
/// patience is over are ended.
///
/// Foundation keeps no timeouts on Linux, so they are kept here.
final class WatchedRequests: NSObject, URLSessionDataDelegate, Sendable {
    private let running = Locked<[ObjectIdentifier: Running]>([:])
    private let clock: RequestClock

    init(_ clock: RequestClock) { self.clock = clock }

    private struct Running {
        let timeLimits: TimeLimits
        let begun: Duration
        /// When something came or went last.
        var touched: Duration
        var hasLeft = false
        /// Whether its patience is over.
        var isOverdue = false
        var head: CheckedContinuation<HTTPURLResponse, any Error>?
        let body: StreamedBody.Continuation
        /// Where the body goes instead of the stream.
        let file: FileHandle?
        var watch: Task<Void, Never>?

        /// How long it is still waited for, if nothing happens.
        func left(_ now: Duration) -> Duration {
            let silence = .seconds(timeLimits.silenceSeconds) - (now - touched)
            guard let whole = timeLimits.wholeSeconds else { return silence }
            return min(silence, .seconds(whole) - (now - begun))
        }
    }

    /// Sends a request.
    ///
    /// - Parameter file: takes the body, which then does not come piece by piece.
    /// - Returns: the body, and the head as soon as it is there.
    /// - Throws: `BrokenRequest` when no head comes, `CancellationError`.
    func begin(
        _ task: URLSessionTask, _ timeLimits: TimeLimits, into file: FileHandle? = nil
    ) async throws -> (StreamedBody, HTTPURLResponse) {
        try Task.checkCancellation()
        let (stream, continuation) = StreamedBody.makeStream()
        continuation.onTermination = { if case .cancelled = $0 { task.cancel() } }
        let id = ObjectIdentifier(task)
        let now = clock.now()
        running.withLock {
            $0[id] = Running(
                timeLimits: timeLimits, begun: now, touched: now, body: continuation, file: file)
        }
        let response = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { head in
                let isThere = running.withLock { running in
                    running[id]?.head = head
                    running[id]?.watch = Task { await self.watch(task) }
                    return running[id] != nil
                }
                guard isThere else { return head.resume(throwing: CancellationError()) }
                task.resume()
            }
        } onCancel: {
            task.cancel()
            end(id, CancellationError())
        }
        return (stream, response)
    }

    /// Ends the request once nothing has come or gone for too long, or it takes too long in all.
    private func watch(_ task: URLSessionTask) async {
        let id = ObjectIdentifier(task)
        while let left = running.withLock({ $0[id]?.left(clock.now()) }) {
            guard left <= .zero else {
                // NB: cut short when the request has ended; there is then nothing more to watch.
                guard (try? await clock.sleep(left)) != nil else { return }
                continue
            }
            // It ends when the session says so: until then it may still send what it asks for.
            running.withLock { $0[id]?.isOverdue = true }
            return task.cancel()
        }
    }

    /// Tells the waiting caller, once.
    private func end(_ id: ObjectIdentifier, _ error: (any Error)?) {
        guard let ended = running.withLock({ $0.removeValue(forKey: id) }) else { return }
        ended.watch?.cancel()
        let broken = error.map { BrokenRequest(cause: $0, hasLeft: ended.hasLeft) }
        ended.head?.resume(throwing: broken ?? TransportFailure.unreadable(status: 0))
        ended.body.finish(throwing: broken)
    }

    /// Something has come or gone.
    private func touch(_ task: URLSessionTask, _ note: (inout Running) -> Void = { _ in }) {
        running.withLock { running in
            guard var found = running.removeValue(forKey: ObjectIdentifier(task)) else { return }
            found.touched = clock.now()
            note(&found)
            running[ObjectIdentifier(task)] = found
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64, totalBytesExpectedToSend: Int64
    ) {
        touch(task) { $0.hasLeft = true }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        var head: CheckedContinuation<HTTPURLResponse, any Error>?
        touch(dataTask) { running in
            running.hasLeft = true
            guard response is HTTPURLResponse else { return }
            head = running.head
            running.head = nil
        }
        guard let answer = response as? HTTPURLResponse else {
            end(ObjectIdentifier(dataTask), TransportFailure.unreadable(status: 0))
            cancel(dataTask)
            return completionHandler(.cancel)
        }
        head?.resume(returning: answer)
        completionHandler(.allow)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
    ) {
        let id = ObjectIdentifier(dataTask)
        touch(dataTask)
        guard let (file, body) = running.withLock({ $0[id].map { ($0.file, $0.body) } }) else {
            return
        }
        guard let file else {
            body.yield(data)
            return
        }
        do {
            try file.write(contentsOf: data)
        } catch {
            end(id, error)
            cancel(dataTask)
        }
    }

    /// Cancels a task from within a call of its session, which would wait for that call.
    private func cancel(_ task: URLSessionTask) {
        DispatchQueue.global().async { task.cancel() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let id = ObjectIdentifier(task)
        let isOverdue = running.withLock { running in
            if task.countOfBytesSent > 0 { running[id]?.hasLeft = true }
            return running[id]?.isOverdue ?? false
        }
        // The session's own word would be that somebody has cancelled it.
        end(id, error.map { isOverdue ? URLError(.timedOut) : $0 })
    }
}
