import Accounts
import CloudModel
import Synchronization
import Telemetry
import WebServices

/// Counts of finished requests, kept apart for each event loop so that loops do not wait for
/// each other.
final class RequestCounts: Sendable {
    struct Key: Hashable, Sendable {
        var operation: String
        var database: DatabaseScope?
        var status: Int
        var code: FaultCode?
    }

    /// What items that failed are told apart by.
    struct ItemKey: Hashable, Sendable {
        var operation: String
        var code: FaultCode
    }

    /// How long requests took, in both kinds of buckets that Prometheus knows.
    struct Seconds: Sendable {
        fileprivate(set) var classic = Distribution.seconds
        fileprivate(set) var native = LatencyHistogram()

        fileprivate mutating func note(_ nanoseconds: UInt64) {
            classic.record(Double(nanoseconds) / 1e9)
            native.record(nanoseconds: nanoseconds)
        }

        fileprivate mutating func add(_ other: Seconds) {
            classic.add(other.classic)
            native.add(other.native)
        }
    }

    /// The requests of one key.
    private struct Series: Sendable {
        var count: UInt64 = 0
        var seconds = Seconds()

        mutating func note(_ nanoseconds: UInt64) {
            count &+= 1
            seconds.note(nanoseconds)
        }
    }

    private struct Shard: Sendable {
        var series: [Series] = []
        /// Where the requests of a key count in `series`.
        var places: [Key: Int] = [:]
        /// The last of them: the next request is often of the same kind.
        var latest: (key: Key, place: Int)?
        var itemFaults: [ItemKey: UInt64] = [:]
        var refusals: [CredentialRefusal: UInt64] = [:]
        var bytesIn: UInt64 = 0
        var bytesOut: UInt64 = 0

        /// - Parameter key: becomes that of all others where there are too many.
        mutating func place(of key: inout Key) -> Int {
            if let latest, latest.key == key { return latest.place }
            if places.count >= RequestCounts.seriesCountMax, places[key] == nil {
                key = Key(operation: RequestCounts.overflow, database: nil, status: 0, code: nil)
            }
            let place = places[key] ?? series.count
            if place == series.count {
                series.append(Series())
                places[key] = place
            }
            latest = (key, place)
            return place
        }
    }

    struct Totals: Sendable {
        var requests: [Key: UInt64] = [:]
        var seconds: [String: Seconds] = [:]
        var itemFaults: [ItemKey: UInt64] = [:]
        var refusals: [CredentialRefusal: UInt64] = [:]
        var bytesIn: UInt64 = 0
        var bytesOut: UInt64 = 0
    }

    /// What requests outside the route table count under.
    static let unmatched = "unmatched"
    /// What further requests count under once there are as many series as there may be.
    static let overflow = "overflow"
    /// Of one shard; the route table and the faults make far fewer.
    static let seriesCountMax = 2_000

    private let shards: [MutexBox]

    /// A lock on the heap, as an array cannot hold one in place.
    private final class MutexBox: Sendable {
        let value = Mutex(Shard())
    }

    init(shardCount: Int = 16) {
        shards = (0..<max(1, shardCount)).map { _ in MutexBox() }
    }

    func record(_ request: RequestObservation) {
        let shard = shards[Int(request.loop.magnitude % UInt(shards.count))]
        var key = Key(
            operation: request.operation ?? RequestCounts.unmatched, database: request.database,
            status: request.status, code: request.code)
        shard.value.withLock { shard in
            let place = shard.place(of: &key)
            shard.series[place].note(request.durationNanoseconds)
            if let refusal = request.refusal { shard.refusals[refusal, default: 0] &+= 1 }
            for failed in request.work.failures {
                let item = ItemKey(operation: key.operation, code: failed.code)
                shard.itemFaults[item, default: 0] &+= UInt64(max(0, failed.count))
            }
            shard.bytesIn &+= UInt64(max(0, request.bytesIn))
            shard.bytesOut &+= UInt64(max(0, request.bytesOut))
        }
    }

    /// The sum over all loops.
    func totals() -> Totals {
        var totals = Totals()
        for box in shards {
            let shard = box.value.withLock { $0 }
            for (key, place) in shard.places {
                let series = shard.series[place]
                totals.requests[key, default: 0] &+= series.count
                totals.seconds[key.operation, default: Seconds()].add(series.seconds)
            }
            totals.itemFaults.merge(shard.itemFaults) { $0 &+ $1 }
            totals.refusals.merge(shard.refusals) { $0 &+ $1 }
            totals.bytesIn &+= shard.bytesIn
            totals.bytesOut &+= shard.bytesOut
        }
        return totals
    }
}
