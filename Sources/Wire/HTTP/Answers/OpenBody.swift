import Synchronization

/// The rest of an answer that goes on until one side ends it, such as a stream of events.
///
/// An answer that has one goes out as far as it is made. From then on the sender sends one piece at a time. So
/// a client that does not read holds one piece in memory at most. When it takes nothing for
/// `WireLimits.answerSecondsMax`, its connection ends. A client that ends its direction has gone:
/// `HTTPReply.whenAbandoned` tells of it until the last piece has been handed in.
///
/// Clients of HTTP/1.1 get chunks, those of HTTP/1.0 a body that ends with the connection. It is never
/// compressed.
package final class OpenBody: Sendable {
    /// Called once, with whether the system has taken a piece for the client; false when no further piece will
    /// be sent.
    ///
    /// Called on any thread; must not block.
    package typealias WhenSent = @Sendable (Bool) -> Void

    /// A part of the body.
    package struct Piece: Sendable {
        package let bytes: [UInt8]
        /// Whether the answer ends with it.
        package let isLast: Bool
        /// Whether the connection ends with it, in the middle of the answer.
        package var isCut = false
        package let whenSent: WhenSent
    }

    private enum State {
        /// The answer has not begun; one piece may wait for that.
        case early(Piece?)
        case begun(@Sendable (Piece) -> Void)
    }

    private let state = Mutex(State.early(nil))

    package init() {}

    /// Sends a piece, from any thread; only after `whenSent` of the answer and of the former piece.
    ///
    /// - Parameter isLast: ends the answer with this piece, which may be empty then.
    package func send(_ bytes: [UInt8], isLast: Bool = false, whenSent: @escaping WhenSent) {
        pass(Piece(bytes: bytes, isLast: isLast, whenSent: whenSent))
    }

    /// Ends the connection in the middle of the answer, by which the client knows that bytes are missing.
    ///
    /// As `send`: only after `whenSent` of the answer and of the former piece.
    package func cut() {
        var piece = Piece(bytes: [], isLast: true) { _ in }
        piece.isCut = true
        pass(piece)
    }

    private func pass(_ piece: Piece) {
        let take = state.withLock { state -> (@Sendable (Piece) -> Void)? in
            if case .begun(let take) = state { return take }
            state = .early(piece)
            return nil
        }
        take?(piece)
    }

    /// Passes all pieces to the connection; called once, when the connection takes the answer.
    package func begin(_ take: @escaping @Sendable (Piece) -> Void) {
        let early = state.withLock { state -> Piece? in
            defer { state = .begun(take) }
            if case .early(let piece) = state { return piece }
            return nil
        }
        if let early { take(early) }
    }

    /// Says that the client has gone, or that the answer has no body.
    func refuse() { begin { $0.whenSent(false) } }
}
