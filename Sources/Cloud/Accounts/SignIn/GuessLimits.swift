import CloudModel
import Cryptography
import Storage
import Synchronization

/// Counts guesses, and makes a caller wait longer after each wrong one.
///
/// It counts by what was typed and by where it came from, even when there is no such account. The counts lie in
/// two rows of places, and a keyed hash chooses the place. So memory stays the same however much is tried, and
/// nothing is forgotten to make room. Two things that share a place in one row hardly share the place in the
/// other. Any thread may call.
package final class GuessLimits: Sendable {
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

    private struct Slot {
        var count: UInt32 = 0
        var lastAt: Milliseconds = 0
    }

    private static let slotsPerRow = 65_536
    private let key: HMACSHA256
    private let rows = Mutex([Slot](repeating: Slot(), count: 2 * slotsPerRow))

    private let processCount: @Sendable () -> Int

    /// - Parameter processCount: how many processes count guesses, each those that it sees: each guess counts once for each
    ///   of them, so that all together allow no more than one alone.
    package init(
        random: RandomSource = .system, processCount: @escaping @Sendable () -> Int = { 1 }
    ) {
        key = HMACSHA256(key: random.bytes(32))
        self.processCount = processCount
    }

    /// Counts a guess to all of its subjects, unless one of them has to wait.
    ///
    /// It counts the guess before it is made, so that many at once count like many in a row.
    ///
    /// - Returns: the seconds to wait; nil when the guess may be made.
    package func take(
        _ subjects: [(subject: Subject, policy: Policy)], now: Milliseconds
    ) -> Int? {
        let counted = subjects.map { (slots(of: $0.subject), $0.policy) }
        let weight = processCount()
        return rows.withLock { rows in
            var wait: Milliseconds = 0
            for (slots, policy) in counted {
                let known = Self.count(slots, rows, policy, now)
                wait = max(wait, known.lastAt + policy.wait(after: known.count) - now)
            }
            guard wait <= 0 else { return Int((wait + 999) / 1_000) }
            for (slots, policy) in counted {
                let known = Self.count(slots, rows, policy, now)
                for slot in slots {
                    // Conservative: only the places that hold the smaller number grow.
                    let own = Self.live(rows[slot], policy, now)
                    rows[slot].count = max(own, UInt32(clamping: known.count + weight))
                    rows[slot].lastAt = now
                }
            }
            return nil
        }
    }

    /// Takes back a guess that was right.
    package func giveBack(_ subject: Subject) {
        let slots = slots(of: subject)
        let weight = UInt32(clamping: processCount())
        rows.withLock { rows in
            for slot in slots { rows[slot].count -= min(rows[slot].count, weight) }
        }
    }

    /// Forgets what was counted for a subject once its owner has signed in.
    package func forget(_ subject: Subject) {
        let slots = slots(of: subject)
        rows.withLock { rows in for slot in slots { rows[slot] = Slot() } }
    }

    private func slots(of subject: Subject) -> [Int] {
        let code = key.code(for: Array(subject.text.utf8))
        func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
        return [
            number(code[0..<4]) % Self.slotsPerRow,
            Self.slotsPerRow + number(code[4..<8]) % Self.slotsPerRow,
        ]
    }

    private static func live(_ slot: Slot, _ policy: Policy, _ now: Milliseconds) -> UInt32 {
        now - slot.lastAt < Milliseconds(policy.forgetSeconds) * 1_000 ? slot.count : 0
    }

    /// What is known of a subject: the smaller count, with the time that goes with it.
    private static func count(
        _ slots: [Int], _ rows: [Slot], _ policy: Policy, _ now: Milliseconds
    ) -> (count: Int, lastAt: Milliseconds) {
        let counts = slots.map { (Int(live(rows[$0], policy, now)), rows[$0].lastAt) }
        return counts.min { $0.0 < $1.0 } ?? (0, 0)
    }
}
