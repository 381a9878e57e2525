import CloudModel
import Cryptography
import Storage

/// Counts guesses, and makes a caller wait longer after each wrong one.
///
/// It counts by what was typed and by where it came from, even when there is no such account. The counts lie in
/// two rows of places, and a keyed hash chooses the place. So memory stays the same however much is tried, and
/// nothing is forgotten to make room. Two things that share a place in one row hardly share the place in the
/// other. Any thread may call, but where a database counts none that may not wait.
package struct GuessLimits: Sendable {
    /// What a guess counts towards.
    package enum Subject: Hashable, Sendable {
        /// An e-mail address or a phone number, in the form that is compared.
        case address(String)
        /// The same at a browser that its owner has signed in at before: strangers do not lock it.
        case device(String, id: String)
        /// A block of network addresses.
        case client(String)
        /// An account's second factor, at a browser that its owner has signed in at before or at any other.
        case factor(String, device: String?)
        /// Letters of one kind to an address.
        case lettersTo(String, Letter.Purpose)
        /// Letters of one kind for an account, whatever the address.
        case lettersOf(AccountID, Letter.Purpose)
        /// Letters that a block of network addresses has asked for.
        case lettersFor(String)

        fileprivate var text: String {
            switch self {
            case .address(let text): "a\u{0}\(text)"
            case .device(let text, let id): "d\u{0}\(text)\u{0}\(id)"
            case .client(let text): "c\u{0}\(text)"
            case .factor(let text, let id): "s\u{0}\(text)\u{0}\(id ?? "")"
            case .lettersTo(let text, let kind): "t\u{0}\(kind.rawValue)\u{0}\(text)"
            case .lettersOf(let id, let kind): "o\u{0}\(kind.rawValue)\u{0}\(id.text)"
            case .lettersFor(let text): "f\u{0}\(text)"
            }
        }
    }

    /// How long a caller waits after wrong guesses.
    package struct Policy: Sendable {
        /// So many guesses cost no waiting.
        package var free: Int
        /// The longest wait; each wrong guess doubles it, from a second.
        package var secondsMax: Int
        /// After so long without a guess nothing is remembered.
        package var forgetSeconds: Int

        package init(free: Int, secondsMax: Int, forgetSeconds: Int) {
            self.free = free
            self.secondsMax = secondsMax
            self.forgetSeconds = forgetSeconds
        }

        /// How long the next guess has to wait after so many.
        func wait(after count: Int) -> Milliseconds {
            guard count >= free else { return 0 }
            let seconds = count - free >= 20 ? secondsMax : min(secondsMax, 1 << (count - free))
            return Milliseconds(seconds) * 1_000
        }
    }

    private static let slotsPerRow = 65_536
    /// Under this name the catalog has the key that chooses slots, so that all processes choose the same.
    private static let keyName = "guesses"

    private let key: HMACSHA256
    private let counts: any GuessCounts

    /// Counts in memory.
    package init(random: RandomSource = .system) {
        key = HMACSHA256(key: random.bytes(32))
        counts = GuessesInMemory(slotCount: 2 * Self.slotsPerRow)
    }

    /// Counts in a catalog that several processes share, so that all together allow no more than one alone; in memory
    /// with any other.
    ///
    /// - Throws: what the catalog reports.
    package init(catalog: any CatalogStorage, random: RandomSource) throws {
        let shared = catalog as? any GuessCounts
        let bytes = random.bytes(32)
        key = HMACSHA256(
            key: shared == nil ? bytes : try catalog.secret(Self.keyName, orStore: bytes))
        counts = shared ?? GuessesInMemory(slotCount: 2 * Self.slotsPerRow)
    }

    /// Counts a guess to all of its subjects, unless one of them has to wait.
    ///
    /// It counts the guess before it is made, so that many at once count like many in a row.
    ///
    /// - Returns: the seconds to wait; nil when the guess may be made.
    /// - Throws: what the catalog reports.
    package func take(
        _ subjects: [(subject: Subject, policy: Policy)], now: Milliseconds
    ) throws -> Int? {
        let chosen = subjects.map { (slots: self.slots(of: $0.subject), policy: $0.policy) }
        let all = Set(chosen.flatMap { $0.slots }).sorted()
        let indexes = Dictionary(uniqueKeysWithValues: zip(all, all.indices))
        let counted = chosen.map { (slots: $0.slots.compactMap { indexes[$0] }, policy: $0.policy) }
        return try counts.change(all) { counts in
            // Another process's clock may be ahead.
            for index in counts.indices { counts[index].lastAt = min(counts[index].lastAt, now) }
            var wait: Milliseconds = 0
            for (slots, policy) in counted {
                let known = Self.count(slots, counts, policy, now)
                wait = max(wait, known.lastAt + policy.wait(after: known.count) - now)
            }
            guard wait <= 0 else { return Int((wait + 999) / 1_000) }
            for (slots, policy) in counted {
                let known = Self.count(slots, counts, policy, now)
                for slot in slots {
                    // Conservative: only the places that hold the smaller number grow.
                    let own = Self.live(counts[slot], policy, now)
                    counts[slot].count = max(own, UInt32(clamping: known.count + 1))
                    counts[slot].lastAt = now
                }
            }
            return nil
        }
    }

    /// Takes back a guess that was right.
    ///
    /// - Throws: what the catalog reports.
    package func giveBack(_ subjects: [Subject]) throws {
        try counts.change(slots(of: subjects)) { counts in
            for index in counts.indices { counts[index].count -= min(counts[index].count, 1) }
        }
    }

    /// Forgets what was counted for a subject once its owner has signed in.
    ///
    /// - Throws: what the catalog reports.
    package func forget(_ subject: Subject) throws {
        try counts.change(slots(of: [subject])) { counts in
            for index in counts.indices { counts[index] = GuessCount() }
        }
    }

    private func slots(of subjects: [Subject]) -> [Int] {
        Set(subjects.flatMap { slots(of: $0) }).sorted()
    }

    private func slots(of subject: Subject) -> [Int] {
        let code = key.code(for: Array(subject.text.utf8))
        func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
        return [
            number(code[0..<4]) % Self.slotsPerRow,
            Self.slotsPerRow + number(code[4..<8]) % Self.slotsPerRow,
        ]
    }

    private static func live(_ slot: GuessCount, _ policy: Policy, _ now: Milliseconds) -> UInt32 {
        now - slot.lastAt < Milliseconds(policy.forgetSeconds) * 1_000 ? slot.count : 0
    }

    /// What is known of a subject: the smaller count, with the time that goes with it.
    private static func count(
        _ slots: [Int], _ rows: [GuessCount], _ policy: Policy, _ now: Milliseconds
    ) -> (count: Int, lastAt: Milliseconds) {
        let counts = slots.map { (Int(live(rows[$0], policy, now)), rows[$0].lastAt) }
        return counts.min { $0.0 < $1.0 } ?? (0, 0)
    }
}
