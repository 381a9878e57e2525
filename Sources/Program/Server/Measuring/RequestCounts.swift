import CloudModel
import Synchronization
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

    private struct Shard: Sendable {
        var requests: [Key: UInt64] = [:]
        var seconds: [String: Distribution] = [:]
        var bytesIn: UInt64 = 0
        var bytesOut: UInt64 = 0
    }

    struct Totals: Sendable {
        var requests: [Key: UInt64] = [:]
        var seconds: [String: Distribution] = [:]
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
            if shard.requests.count >= RequestCounts.seriesCountMax, shard.requests[key] == nil {
                key = Key(operation: RequestCounts.overflow, database: nil, status: 0, code: nil)
            }
            shard.requests[key, default: 0] &+= 1
            shard.seconds[key.operation, default: .seconds]
                .record(Double(request.durationNanoseconds) / 1e9)
            shard.bytesIn &+= UInt64(max(0, request.bytesIn))
            shard.bytesOut &+= UInt64(max(0, request.bytesOut))
        }
    }

    /// The sum over all loops.
    func totals() -> Totals {
        var totals = Totals()
        for box in shards {
            let shard = box.value.withLock { $0 }
            totals.requests.merge(shard.requests) { $0 &+ $1 }
            totals.seconds.merge(shard.seconds) { left, right in
                var sum = left
                sum.add(right)
                return sum
            }
            totals.bytesIn &+= shard.bytesIn
            totals.bytesOut &+= shard.bytesOut
        }
        return totals
    }
}
