import Synchronization

/// Kinds of callers, as metrics tell them apart.
package enum CallerKind: String, Sendable, CaseIterable {
    case address
    case apiToken = "api_token"
    case user
    case serverKey = "server_key"
}

/// What became of a request by its caller's budgets.
struct RateVerdict {
    let isAdmitted: Bool
    /// The budget nearest to its end; nil while hardly anything of any has been used.
    let status: RateStatus?
}

/// Limits the requests, records and bytes of every caller per second (rulings.md 53).
///
/// A request is admitted while none of its caller's budgets is used up. The budgets for writing only matter
/// to a request that writes. What a request takes is counted once it is known. Any thread may call; each call
/// holds the lock of one of 16 shards for a moment.
package final class RateBudgets: Sendable {
    /// How many requests of one kind of caller there have been.
    package struct Counts: Sendable {
        package var admitted: UInt64 = 0
        package var throttled: UInt64 = 0

        package init(admitted: UInt64 = 0, throttled: UInt64 = 0) {
            self.admitted = admitted
            self.throttled = throttled
        }
    }

    private struct Contents {
        var table: RateTable
        var counts = [Counts](repeating: Counts(), count: CallerKind.allCases.count)
    }

    private final class Shard: Sendable {
        let contents: Mutex<Contents>

        init(callersMax: Int) {
            contents = Mutex(Contents(table: RateTable(callersMax: callersMax)))
        }
    }

    private static let shardBits: UInt64 = 4
    private let shards: [Shard]
    private let anonymous: RateBudgetSet
    private let user: RateBudgetSet
    private let serverKey: RateBudgetSet
    private let processCount: @Sendable () -> Int
    private let now: @Sendable () -> UInt64

    /// - Parameters:
    ///   - processCount: how many processes share the limits: each has its part of them.
    ///   - now: a monotonic clock in nanoseconds.
    init(
        _ limits: RateLimits, processCount: @escaping @Sendable () -> Int = { 1 },
        now: @escaping @Sendable () -> UInt64
    ) {
        let callersMax = limits.callersMax >> Self.shardBits
        shards = (0..<(1 << Self.shardBits)).map { _ in Shard(callersMax: callersMax) }
        // A block of addresses writes nothing.
        anonymous = RateBudgetSet(
            limits.anonymous, burstSeconds: limits.burstSeconds,
            settings: ("limits.anonymousRequestsPerSecondMax", "", ""))
        user = RateBudgetSet(
            limits.user, burstSeconds: limits.burstSeconds,
            settings: (
                "limits.userRequestsPerSecondMax", "limits.userRecordsPerSecondMax",
                "limits.userBytesPerSecondMax"
            ))
        serverKey = RateBudgetSet(
            limits.serverKey, burstSeconds: limits.burstSeconds,
            settings: (
                "limits.serverKeyRequestsPerSecondMax", "limits.serverKeyRecordsPerSecondMax",
                "limits.serverKeyBytesPerSecondMax"
            ))
        self.processCount = processCount
        self.now = now
    }

    /// Counts a request.
    ///
    /// - Parameters:
    ///   - bytes: of its body, if it writes.
    ///   - takes: false for a request that comes again when its body is there, and may be refused already.
    func admit(_ principal: Principal, writing bytes: Int?, takes: Bool = true) -> RateVerdict {
        let (kind, budgets, now) = (principal.kind, budgets(of: principal), now())
        let weight = processCount()
        return withShard(of: principal) { contents, hash in
            let verdict = contents.table.withEntry(hash) { entry in
                budgets.admit(&entry, writing: bytes, takes: takes, weight: weight, now)
            }
            if !verdict.isAdmitted {
                contents.counts[kind.index].throttled &+= 1
            } else if takes {
                contents.counts[kind.index].admitted &+= 1
            }
            return verdict
        }
    }

    /// Counts records that an admitted request is about to save or delete.
    func charge(_ principal: Principal, records: Int) {
        guard let budget = budgets(of: principal).records else { return }
        let (now, weight) = (now(), processCount())
        withShard(of: principal) { contents, hash in
            contents.table.withEntry(hash) { entry in
                entry.records = budget.taking(records * weight, from: entry.records, now)
            }
        }
    }

    /// What there has been since the start, by kind of caller.
    package var counts: [CallerKind: Counts] {
        var sums: [CallerKind: Counts] = [:]
        for shard in shards {
            let counts = shard.contents.withLock { $0.counts }
            for kind in CallerKind.allCases {
                sums[kind, default: Counts()].admitted &+= counts[kind.index].admitted
                sums[kind, default: Counts()].throttled &+= counts[kind.index].throttled
            }
        }
        return sums
    }

    private func budgets(of principal: Principal) -> RateBudgetSet {
        switch principal {
        case .address, .apiToken: anonymous
        case .user: user
        case .serverKey: serverKey
        }
    }

    private func withShard<Value: Sendable>(
        of principal: Principal, _ body: (inout Contents, UInt64) -> Value
    ) -> Value {
        var hasher = Hasher()
        hasher.combine(principal)
        let hash = UInt64(bitPattern: Int64(hasher.finalize()))
        return shards[Int(hash >> (64 - Self.shardBits))].contents.withLock { body(&$0, hash) }
    }
}

extension CallerKind {
    fileprivate var index: Int {
        switch self {
        case .address: 0
        case .apiToken: 1
        case .user: 2
        case .serverKey: 3
        }
    }
}

extension Principal {
    fileprivate var kind: CallerKind {
        switch self {
        case .address: .address
        case .apiToken: .apiToken
        case .user: .user
        case .serverKey: .serverKey
        }
    }
}
