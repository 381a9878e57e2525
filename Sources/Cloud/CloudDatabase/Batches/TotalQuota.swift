import Dispatch
import Storage
import Synchronization

/// How much all databases of a container environment may store together.
///
/// What is stored is counted now and then, not with every write. So writes that come together may exceed the quota by what
/// they bring.
package struct TotalQuota: Sendable {
    private let bytes: Int64
    private let stored: StoredTotal

    package init(bytes: Int64, of stored: StoredTotal) {
        self.bytes = bytes
        self.stored = stored
    }

    /// How much may still come; below 0 when there is too much already.
    func left(_ snapshot: any StoreSnapshot) throws -> Int64 {
        bytes - (try stored.bytes(near: bytes, snapshot))
    }
}

/// What a container environment stores, as it was counted last.
package final class StoredTotal: Sendable {
    /// What counting may cost, in parts of all time: while there is room, and near the quota.
    private static let ageFactor: UInt64 = 100
    private static let ageFactorNearby: UInt64 = 10
    /// Less room than this is near: more than one batch brings.
    private static let nearBytes: Int64 = 67_108_864
    /// So many owners are counted in a millisecond: near the quota that is done with each batch.
    private static let ownersFew = 10_000

    private struct Count {
        var bytes: Int64
        var owners: Int
        var countedAt: UInt64
        var took: UInt64
    }

    private let last = Mutex<Count?>(nil)

    package init() {}

    func bytes(near quota: Int64, _ snapshot: any StoreSnapshot) throws -> Int64 {
        let start = DispatchTime.now().uptimeNanoseconds
        if let last = last.withLock({ $0 }), Self.isFresh(last, quota, start) { return last.bytes }
        let (bytes, owners, _) = try snapshot.amount(of: nil)
        let took = DispatchTime.now().uptimeNanoseconds &- start
        last.withLock { $0 = Count(bytes: bytes, owners: owners, countedAt: start, took: took) }
        return bytes
    }

    private static func isFresh(_ count: Count, _ quota: Int64, _ now: UInt64) -> Bool {
        let age = now &- count.countedAt
        if quota - count.bytes >= nearBytes { return age < ageFactor * count.took }
        return count.owners > ownersFew && age < ageFactorNearby * count.took
    }
}
