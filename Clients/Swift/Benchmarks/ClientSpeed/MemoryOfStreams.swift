import Foundation
import LenticularCloudKit

/// What waiting for notifications costs in memory, above the peak of a session that has asked a hundred things and has
/// listened for a second.
struct MemoryOfStreams {
    private let container = CKContainer.default()

    /// - Returns: nothing where the server has no notifications.
    func wait(seconds: Int) async throws -> [String: Double] {
        let database = container.privateCloudDatabase
        var token: CKServerChangeToken?
        for _ in 0..<100 { token = try await database.databaseChanges(since: token).changeToken }
        do {
            try await listen(seconds: 1)
            let warmed = try ResidentMemory.peakBytes()
            try await listen(seconds: seconds)
            let more = try ResidentMemory.peakBytes() - warmed
            return ["warmedBytes": Double(warmed), "moreBytes": Double(more)]
        } catch CKError.unknownItem {
            return [:]
        }
    }

    /// Follows notifications for so long.
    ///
    /// - Throws: `CKError` when there are none to follow.
    private func listen(seconds: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for try await _ in container.notifications() {} }
            group.addTask { try await Task.sleep(nanoseconds: UInt64(seconds) * 1_000_000_000) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
