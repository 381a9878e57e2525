import Network
import Synchronization

/// Counts the connections of a whole server from their acceptance on, against the limits.
final class ConnectionBudget: Sendable {
    /// How many over a limit may wait at a time to read why they are refused.
    static let refusedCountMax = 256

    enum Verdict {
        case served
        /// To be told why.
        case refused(WireFault)
        /// Closed without a word; not counted.
        case dropped
    }

    private struct Counts {
        var all = 0
        var byBlock: [AddressBlock: Int] = [:]
    }

    private let limit: Int
    private let limitPerAddress: Int
    /// Refused connections take descriptors, too.
    private let refusedMax: Int
    private let counts = Mutex(Counts())

    init(limit: Int, limitPerAddress: Int = .max) {
        self.limit = max(0, limit)
        self.limitPerAddress = max(0, limitPerAddress)
        refusedMax = min(Self.refusedCountMax, max(1, limit / 4))
    }

    deinit {
        assert(
            counts.withLock { $0.all == 0 && $0.byBlock.isEmpty },
            "no connection outlives its server: one that is not given back would keep others out")
    }

    /// Counts one more, and says what may become of it.
    ///
    /// - Parameter isExempt: of the limit for one address.
    func take(_ block: AddressBlock?, isExempt: Bool) -> Verdict {
        counts.withLock { counts in
            let own = block.map { counts.byBlock[$0, default: 0] } ?? 0
            let isOver = !isExempt && block != nil && own >= limitPerAddress
            let isTooMany = counts.all >= limit
            // A client with too many connections only gets a refusal, even while there is room for
            // others.
            guard counts.all < limit + refusedMax,
                !isOver || own - limitPerAddress < refusedMax
            else { return .dropped }
            counts.all += 1
            if let block { counts.byBlock[block] = own + 1 }
            if isTooMany { return .refused(.tooManyConnections) }
            return isOver ? .refused(.tooManyFromAddress) : .served
        }
    }

    /// One has ended.
    func give(_ block: AddressBlock?) {
        counts.withLock { counts in
            counts.all -= 1
            assert(counts.all >= 0, "a connection that ends has been counted, once")
            guard let block, let own = counts.byBlock[block] else { return }
            counts.byBlock[block] = own > 1 ? own - 1 : nil
        }
    }
}
