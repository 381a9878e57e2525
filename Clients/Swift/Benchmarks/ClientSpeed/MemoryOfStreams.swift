import Foundation
import LenticularCloudKit

/// What waiting for notifications costs in memory, above the peak of a session that has asked a hundred things and has
/// listened twice for a second; and what the first of these cost.
struct MemoryOfStreams: Sendable {
    private let container = CKContainer.default()

    /// - Returns: nothing where the server has no notifications.
    func wait(seconds: Int) async throws -> [String: Double] {
        do {
            let asked = try await peak {
                let database = container.privateCloudDatabase
                var token: CKServerChangeToken?
                for _ in 0..<100 {
                    token = try await database.databaseChanges(since: token).changeToken
                }
            }
            // What it takes to begin and to end a stream for the first time is no part of one that is idle.
            let first = try await peak { try await listen(seconds: 1) }
            let second = try await peak { try await listen(seconds: 1) }
            let warmed = max(asked, first, second)
            let idle = try await peak { try await listen(seconds: seconds) }
            return [
                "warmedBytes": Double(warmed), "moreBytes": Double(idle - warmed),
                "firstMoreBytes": Double(first - asked),
            ]
        } catch CKError.unknownItem {
            return [:]
        }
    }

    private static let betweenLooksNanoseconds: UInt64 = 20_000_000

    /// The most memory that the process has while something goes on.
    ///
    /// Looked for again and again: the peak that the system keeps is off by up to 256 KB on two processors.
    private func peak(of body: @escaping @Sendable () async throws -> Void) async throws -> Int {
        try await withThrowingTaskGroup(of: Int?.self) { group in
            group.addTask {
                var peak = 0
                while !Task.isCancelled {
                    peak = max(peak, try ResidentMemory.bytes())
                    try? await Task.sleep(nanoseconds: Self.betweenLooksNanoseconds)
                }
                return peak
            }
            group.addTask {
                try await body()
                return nil
            }
            var peak = 0
            while let found = try await group.next() {
                if let found { peak = found } else { group.cancelAll() }
            }
            return peak
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
