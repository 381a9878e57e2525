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

    private struct Running {
        let patience: Patience
        let begun = ContinuousClock.now
        /// When something came or went last.
        var touched = ContinuousClock.now
        var hasLeft = false
        var head: CheckedContinuation<HTTPURLResponse, any Error>?
        let body: StreamedBody.Continuation
        /// Where the body goes instead of the stream.
        let file: FileHandle?
        var watch: Task<Void, Never>?

        /// How long it is still waited for, if nothing happens.
        var left: Duration {
            let now = ContinuousClock.now
            let silence = .seconds(patience.silenceSeconds) - touched.duration(to: now)
            guard let whole = patience.wholeSeconds else { return silence }
            return min(silence, .seconds(whole) - begun.duration(to: now))
        }
    }

    /// Sends a request.
    ///
    /// - Parameter file: takes the body, which then does not come piece by piece.
    /// - Returns: the body, and the head as soon as it is there.
    /// - Throws: `BrokenRequest` when no head comes, `CancellationError`.
    func begin(
        _ task: URLSessionTask, _ patience: Patience, into file: FileHandle? = nil
    ) async throws -> (StreamedBody, HTTPURLResponse) {
        try Task.checkCancellation()
        let (stream, continuation) = StreamedBody.makeStream()
        continuation.onTermination = { _ in task.cancel() }
        let id = ObjectIdentifier(task)
        running.withLock {
            $0[id] = Running(patience: patience, body: continuation, file: file)
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
        while let left = running.withLock({ $0[id]?.left }) {
            guard left <= .zero else {
                // NB: cut short when the request has ended; there is then nothing more to watch.
                guard (try? await Task.sleep(for: left)) != nil else { return }
                continue
            }
            // Before the session has a word, which would be that somebody has cancelled it; this cancels it, too.
            return end(id, URLError(.timedOut))
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
            found.touched = .now
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
            dataTask.cancel()
            end(id, error)
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        end(ObjectIdentifier(task), error)
    }
}
