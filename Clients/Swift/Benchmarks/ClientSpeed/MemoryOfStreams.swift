import Foundation
import LenticularCloudKit

/// What waiting for notifications costs in memory, above the peak of a session that has asked a few things.
struct MemoryOfStreams {
    func wait(seconds: Int) async throws -> [String: Double] {
        let database = CKContainer.default().privateCloudDatabase
        var token: CKServerChangeToken?
        for _ in 0..<100 { token = try await database.databaseChanges(since: token).changeToken }
        let warmed = try ResidentMemory.peakBytes()
        try await Task.sleep(nanoseconds: UInt64(seconds) * 1_000_000_000)
        return [
            "warmedBytes": Double(warmed),
            "moreBytes": Double(try ResidentMemory.peakBytes() - warmed),
        ]
    }
}
