import Dispatch
import Synchronization

/// Looks names up on threads of its own, for event loops, which must not wait.
///
/// The system's own look-up blocks, for half a minute where no name server answers. A caller asks for
/// each name only once at a time, so that one dead name holds one thread.
package final class NameResolver: Sendable {
    package typealias Outcome = Result<[ResolvedAddress], SystemError>

    private struct Question: Sendable {
        let host: String
        let port: UInt16
        let then: @Sendable (Outcome) -> Void
    }

    private struct Questions {
        var waiting: [Question] = []
        var isOver = false
    }

    private let questions = Mutex(Questions())
    private let isAsked = DispatchSemaphore(value: 0)
    private let threadCount: Int

    package init(threadCount: Int = 4) throws(SystemError) {
        self.threadCount = threadCount
        for index in 0..<threadCount {
            try Thread().start(name: "names-\(index)") { [self] in answerAll() }
        }
    }

    /// Looks a name up and tells what came of it, on a thread of the resolver's.
    package func resolve(
        host: String, port: UInt16, then: @escaping @Sendable (Outcome) -> Void
    ) {
        let question = Question(host: host, port: port, then: then)
        let isTaken = questions.withLock { questions in
            if !questions.isOver { questions.waiting.append(question) }
            return !questions.isOver
        }
        if isTaken {
            isAsked.signal()
        } else {
            then(.failure(SystemError(call: "getaddrinfo", code: 0)))
        }
    }

    /// Ends the threads, each after the name that it is looking up; nobody waits for that.
    ///
    /// What waits is not answered any more.
    package func stop() {
        questions.withLock { questions in
            questions.isOver = true
            questions.waiting = []
        }
        for _ in 0..<threadCount { isAsked.signal() }
    }

    private func answerAll() {
        while true {
            isAsked.wait()
            let next: (question: Question?, isOver: Bool) = questions.withLock { questions in
                if questions.isOver { return (nil, true) }
                return (questions.waiting.isEmpty ? nil : questions.waiting.removeFirst(), false)
            }
            if next.isOver { return }
            guard let question = next.question else { continue }
            do throws(SystemError) {
                question.then(
                    .success(
                        try ResolvedAddress.resolve(host: question.host, port: question.port)))
            } catch {
                question.then(.failure(error))
            }
        }
    }
}
