/// One connection of a destination, on the loop's thread, whatever it speaks.
///
/// It tells its destination what becomes of it: `isFree`, `again`, `isOver`, `failed`.
package protocol OutgoingConnection: AnyObject {
    /// Until the first request may be sent.
    var isOpening: Bool { get }
    /// Whether nothing is under way, and something could be.
    var isIdle: Bool { get }
    /// Whether it takes, or may soon take, further requests.
    var takesMore: Bool { get }
    /// How many requests it takes now.
    var room: Int { get }
    /// Takes a request, for which it has room; `flush` sends it.
    func begin(_ pending: PendingRequest)
    func flush()
    /// Ends what takes too long.
    func check(now: UInt64)
    /// Ends a connection that has nothing under way.
    func close()
    /// Ends the connection whatever it does; the destination has forgotten it.
    func abandon()
}

/// A request that waits or is under way, and the closure that gets its outcome.
package final class PendingRequest {
    package let request: OutgoingRequest
    /// As HTTP/1.1 has it.
    let head: [UInt8]
    /// By the loop's clock.
    package let deadline: UInt64
    private let then: @Sendable (Result<OutgoingAnswer, ClientFailure>) -> Void
    /// How often it was put on a connection.
    package private(set) var attempts = 0

    init(
        _ request: OutgoingRequest, head: [UInt8], deadline: UInt64,
        then: @escaping @Sendable (Result<OutgoingAnswer, ClientFailure>) -> Void
    ) {
        self.request = request
        self.head = head
        self.deadline = deadline
        self.then = then
    }

    package func countAttempt() { attempts += 1 }

    package func end(_ result: Result<OutgoingAnswer, ClientFailure>) { then(result) }
}
