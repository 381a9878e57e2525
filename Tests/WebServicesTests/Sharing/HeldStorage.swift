import CloudModel
import Foundation
import Storage

/// A store whose work on shared trees is done when the test says so.
final class HeldStorage: ForwardingStorage {
    let store: any Store

    private typealias Step = @Sendable (Waiting<Bool>) -> Void
    /// The steps that wait.
    private let come = Steps()

    /// What is taken in the order in which it came, once it has come.
    private final class Steps: @unchecked Sendable {
        // Unchecked: what is kept is touched with the condition locked.
        private let condition = NSCondition()
        private var isHeld = true
        private var waiting: [Step] = []

        /// - Returns: false when steps are not held.
        func put(_ step: @escaping Step) -> Bool {
            condition.withLock {
                guard isHeld else { return false }
                waiting.append(step)
                condition.signal()
                return true
            }
        }

        /// - Throws: when none has come for a minute.
        func take() throws -> Step {
            let deadline = Date(timeIntervalSinceNow: 60)
            return try condition.withLock {
                while waiting.isEmpty {
                    guard condition.wait(until: deadline) else {
                        throw WireFailure("no step of work has come")
                    }
                }
                return waiting.removeFirst()
            }
        }

        /// - Returns: what waited.
        func set(isHeld: Bool) -> [Step] {
            condition.withLock {
                self.isHeld = isHeld
                defer { waiting = [] }
                return waiting
            }
        }

        func forget() { condition.withLock { waiting = [] } }
    }

    init(_ store: any Store) { self.store = store }

    func write<Value: Sendable>(
        _ load: WriteLoad,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let isHeld =
            load.caller == .background
            && come.put { [store] done in
                store.write(load, body) { result in
                    completion(result)
                    done.arrive(true)
                }
            }
        if !isHeld { store.write(load, body, completion: completion) }
    }

    /// Does one step that waits or is about to, to its end; those that follow from it wait again.
    ///
    /// - Returns: whether there was work to do.
    @discardableResult
    func doStep() throws -> Bool {
        guard try hasWork() else { return false }
        let step = try come.take()
        let done = Waiting<Bool>()
        step(done)
        return try done.wait()
    }

    private func hasWork() throws -> Bool {
        try store.writeAndWait {
            let next = try $0.nextWorkMoment(nil, for: WorkHolder(1))
            return next.map { [now = $0.now] in $0 <= now } ?? false
        }
    }

    /// Drops what waits, as a stop does.
    ///
    /// The worker whose step it was gets no answer and does nothing more: work goes on once another one is
    /// attached.
    func forget() { come.forget() }

    /// Lets all work go on.
    func release() {
        for step in come.set(isHeld: false) { step(Waiting()) }
    }

    /// Holds work back again.
    func hold() { for step in come.set(isHeld: true) { _ = come.put(step) } }
}
