import Accounts
import CloudModel
import Dispatch
import Synchronization
import Testing

@Suite("Guessing")
struct GuessLimitTests {
    let limits = GuessLimits()
    let policy = GuessLimits.Policy(free: 5, secondsMax: 900, forgetSeconds: 86_400)

    private func take(_ subject: GuessLimits.Subject, at now: Milliseconds) throws -> Int? {
        try limits.take([(subject, policy)], now: now)
    }

    @Test("Some guesses are free, then each wait is twice the one before, up to a greatest")
    func growing() throws {
        var now: Milliseconds = 1_000_000
        for _ in 0..<5 { #expect(try take(.address("a"), at: now) == nil) }
        var waits: [Int] = []
        for _ in 0..<14 {
            let wait = try take(.address("a"), at: now)
            waits.append(wait ?? 0)
            now += Milliseconds(wait ?? 0) * 1_000
            #expect(try take(.address("a"), at: now - 1) != nil)
            #expect(try take(.address("a"), at: now) == nil)
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900])
        // Others are not held up, and after a day nothing is remembered.
        #expect(try take(.address("b"), at: now) == nil)
        for _ in 0..<5 { #expect(try take(.address("a"), at: now + 86_400_000) == nil) }
    }

    @Test("A process whose clock is ahead has nobody wait longer")
    func clockAhead() throws {
        #expect(try take(.address("a"), at: 60_000) == nil)
        for _ in 0..<4 { #expect(try take(.address("a"), at: 0) == nil) }
        for _ in 0..<5 { #expect(try take(.address("b"), at: 60_000) == nil) }
        for subject in [GuessLimits.Subject.address("a"), .address("b")] {
            #expect(try take(subject, at: 0) == 1)
            #expect(try take(subject, at: 999) == 1)
            #expect(try take(subject, at: 1_000) == nil)
        }
    }

    @Test("One who has to wait for one reason costs the other nothing")
    func severalSubjects() throws {
        for _ in 0..<5 { #expect(try take(.address("a"), at: 0) == nil) }
        for _ in 0..<50 {
            #expect(
                try limits.take([(.client("c"), policy), (.address("a"), policy)], now: 0) != nil)
        }
        #expect(try take(.client("c"), at: 0) == nil)
    }

    @Test("What was right is taken back, and what is forgotten begins anew")
    func forget() throws {
        for _ in 0..<50 {
            #expect(try take(.client("c"), at: 0) == nil)
            try limits.giveBack([.client("c")])
        }
        for _ in 0..<5 { #expect(try take(.address("a"), at: 0) == nil) }
        #expect(try take(.address("a"), at: 0) == 1)
        try limits.forget(.address("a"))
        #expect(try take(.address("a"), at: 0) == nil)
    }

    @Test("64 guesses at once are as many as one after the other")
    func race() throws {
        let admitted = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 64) { _ in
            // NB: memory reports nothing.
            if (try? limits.take([(.address("a"), policy)], now: 0)) == .some(nil) {
                admitted.add(1, ordering: .relaxed)
            }
        }
        #expect(admitted.load(ordering: .relaxed) == 5)
    }

    /// How many of a number of guesses, one every 100 ms, are made.
    private func made(
        _ count: Int, from start: Milliseconds = 0, every step: Milliseconds = 100,
        _ subjects: (Int) -> [GuessLimits.Subject]
    ) throws -> Int {
        try (0..<count).filter { number in
            try limits.take(
                subjects(number).map { ($0, policy) },
                now: start + Milliseconds(number) * step) == nil
        }.count
    }

    @Test("Of 10,000 guesses from one place at many accounts hardly any is made")
    func fromOneBlock() throws {
        let count = try made(10_000) { [.address("a\($0)"), .client("one")] }
        #expect(count < 20, "\(count)")
    }

    @Test("Of 10,000 guesses at one account from many places hardly any is made")
    func atOneAccount() throws {
        let count = try made(10_000) { [.address("one"), .client("c\($0)")] }
        #expect(count < 20, "\(count)")
    }

    @Test("10,000 guesses spread over accounts and places lock hardly anybody else")
    func spread() throws {
        #expect(try made(10_000) { [.address("a\($0)"), .client("c\($0)")] } > 9_900)
        let held = try (0..<1_000).filter { try take(.address("other\($0)"), at: 1_000_000) != nil }
            .count
        #expect(held < 10, "\(held)")
        // Nothing is forgotten to make room: one that had to wait still has to.
        for _ in 0..<9 { _ = try take(.address("guessed"), at: 1_000_000) }
        _ = try made(10_000, from: 1_000_000, every: 0) { [.address("more\($0)")] }
        #expect(try take(.address("guessed"), at: 1_000_500) != nil)
    }
}
