import HTTP
import Synchronization

/// Takes in what comes of a body before it is known where it goes.
///
/// Nothing of it counts as dealt with, so that no more comes than the connection's window.
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

    /// Hands on what has come, and from now on all that comes; nil when nobody wants it.
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
