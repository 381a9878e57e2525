import CloudModel
import Fairness
import Synchronization
import Testing

@Suite("Turns on an event loop")
struct LoopTurnsTests {
    /// What one gets of a round; a round has two of them.
    private static let part = LoopTurns<String>.ownNanosecondsMax

    /// A loop whose time passes only while it serves somebody.
    private final class Loop: Sendable {
        private let clock = Atomic<UInt64>(0)
        private let posted = Mutex<[@Sendable () -> Void]>([])
        private let words = Mutex<[String]>([])
        private let turns = Mutex<LoopTurns<String>?>(nil)

        init() {
            turns.withLock { $0 = LoopTurns { self.clock.load(ordering: .relaxed) } }
        }

        func ask(
            _ principal: String, _ word: String, takes nanoseconds: UInt64,
            stop: StopSignal = StopSignal()
        ) {
            turns.withLock { $0 }?.serve(
                principal, stop: stop, later: { work in self.posted.withLock { $0.append(work) } }
            ) {
                self.clock.add(nanoseconds, ordering: .relaxed)
                self.words.withLock { $0.append(word) }
            }
        }

        /// Looks at its sockets, and goes on with what was posted.
        ///
        /// - Returns: what it has served since the last round.
        func round() -> [String] {
            let work = posted.withLock { posted in
                defer { posted = [] }
                return posted
            }
            for piece in work { piece() }
            return served
        }

        var served: [String] {
            words.withLock { words in
                defer { words = [] }
                return words
            }
        }

        func end() { turns.withLock { $0 = nil } }
    }

    @Test("What one asks beyond their part of a round waits, and who comes later is served at once")
    func allowance() {
        let loop = Loop()
        defer { loop.end() }
        for number in 0..<6 { loop.ask("ida", "i\(number)", takes: Self.part / 2) }
        loop.ask("bob", "b", takes: Self.part / 5)
        #expect(loop.served == ["i0", "i1", "b"])
        #expect(loop.round() == ["i2", "i3", "i4", "i5"])
        #expect(loop.round().isEmpty)
    }

    @Test("Those who wait have turns, by what they have used and not by how much they ask")
    func turns() {
        let loop = Loop()
        defer { loop.end() }
        for number in 0..<9 { loop.ask("ida", "i\(number)", takes: Self.part) }
        for number in 0..<3 { loop.ask("bob", "b\(number)", takes: Self.part) }
        // Each has had their part, and together they have had the round.
        #expect(loop.served == ["i0", "b0"])
        loop.ask("eve", "e", takes: Self.part / 5)
        #expect(loop.served.isEmpty)
        #expect(loop.round() == ["i1", "b1"])
        #expect(loop.round() == ["e", "i2", "b2"])
        #expect(loop.round() == ["i3", "i4"])
    }

    @Test("A round ends when its time is over, however much waits")
    func rounds() {
        let loop = Loop()
        defer { loop.end() }
        for number in 0..<100 { loop.ask("ida", "i\(number)", takes: Self.part) }
        #expect(loop.served == ["i0"])
        #expect(loop.round() == ["i1", "i2"])
        // Who comes between two rounds waits for none of the 97.
        loop.ask("bob", "b", takes: Self.part)
        #expect(loop.served == ["b"])
        // What ida asks now comes behind what ida has asked before.
        loop.ask("ida", "last", takes: Self.part)
        #expect(loop.served.isEmpty)
        var rest: [String] = []
        while case let served = loop.round(), !served.isEmpty { rest += served }
        #expect(rest == (3..<100).map { "i\($0)" } + ["last"])
    }

    @Test("What is abandoned before its turn is not done")
    func abandoned() {
        let loop = Loop()
        defer { loop.end() }
        let stop = StopSignal()
        loop.ask("ida", "long", takes: 5 * Self.part)
        loop.ask("ida", "gone", takes: Self.part, stop: stop)
        loop.ask("ida", "here", takes: Self.part)
        stop.stop(.abandoned)
        #expect(loop.served == ["long"])
        #expect(loop.round() == ["here"])
    }
}
