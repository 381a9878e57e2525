import Foundation

/// Finds out who is signed in, and what that means for what the engine knows.
struct SyncAccount {
    let engine: CKSyncEngine

    /// - Returns: whether anybody is signed in.
    /// - Throws: `CKError` when it cannot be found out.
    func check() async throws -> Bool {
        let current = try await engine.server.account()
        let former = engine.memory.read(\.user)
        guard current != former else { return current != nil }
        let change: CKSyncEngine.Event.AccountChange.ChangeType
        switch (former, current) {
        case (nil, let current?): change = .signIn(currentUser: current)
        case (let former?, nil): change = .signOut(previousUser: former)
        case (let former?, let current?):
            change = .switchAccounts(previousUser: former, currentUser: current)
        case (nil, nil): return false
        }
        engine.memory.settle { contents in
            // What was added before the first sign-in belongs to the user who signs in.
            if former != nil { contents.reset() }
            contents.user = current
        }
        await engine.deliver(.accountChange(CKSyncEngine.Event.AccountChange(changeType: change)))
        await engine.tellState()
        return current != nil
    }
}
