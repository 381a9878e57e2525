import HTTP
import Synchronization

/// Receives the beginning of a body before it is known where the body goes.
///
/// It acknowledges nothing, so no more arrives than the connection's window allows.
final class LateSink: BodySink {
    private enum Event {
        case piece([UInt8])
        case end, abort
    }

    private enum State {
        case waiting([Event])
        case known(any BodySink)
        case over
    }

    // Held while events are handed on, so that they stay in order.
    private let state = Mutex(State.waiting([]))

    /// Passes on what has arrived, and from now on all that arrives; nil drops it.
    func become(_ sink: (any BodySink)?) {
        state.withLock { state in
            if case .waiting(let events) = state, let sink {
                for event in events { Self.hand(event, to: sink) }
            }
            state = sink.map { .known($0) } ?? .over
        }
    }

    func receive(_ piece: [UInt8]) { take(.piece(piece)) }
    func end() { take(.end) }
    func abort() { take(.abort) }

    private func take(_ event: Event) {
        state.withLock { state in
            switch state {
            case .waiting(let events): state = .waiting(events + [event])
            case .known(let sink): Self.hand(event, to: sink)
            case .over: break
            }
        }
    }

    private static func hand(_ event: Event, to sink: any BodySink) {
        switch event {
        case .piece(let piece): sink.receive(piece)
        case .end: sink.end()
        case .abort: sink.abort()
        }
    }
}
