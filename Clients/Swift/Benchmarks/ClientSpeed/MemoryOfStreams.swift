import Foundation
import LenticularCloudKit

/// What waiting for notifications costs in memory, above the peak of a session that has asked a hundred things.
struct MemoryOfStreams {
    /// - Returns: nothing where the server has no notifications.
    func wait(seconds: Int) async throws -> [String: Double] {
        let container = CKContainer.default()
        let database = container.privateCloudDatabase
        var token: CKServerChangeToken?
        for _ in 0..<100 { token = try await database.databaseChanges(since: token).changeToken }
        let warmed = try ResidentMemory.peakBytes()
        let listening = Task {
            for try await _ in container.notifications() {}
        }
        let outcome = await withTaskGroup(of: (any Error)?.self) { group in
            group.addTask {
                do {
                    try await listening.value
                    return nil
                } catch {
                    return error
                }
            }
            group.addTask {
                // NB: Nobody cancels it.
                try? await Task.sleep(nanoseconds: UInt64(seconds) * 1_000_000_000)
                listening.cancel()
                return nil
            }
            return await group.next() ?? nil
        }
        if let error = outcome as? CKError {
            guard error.code == .unknownItem else { throw error }
            return [:]
        }
        let more = try ResidentMemory.peakBytes() - warmed
        return ["warmedBytes": Double(warmed), "moreBytes": Double(more)]
    }
}
