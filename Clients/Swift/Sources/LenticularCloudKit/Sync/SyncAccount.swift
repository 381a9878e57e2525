import Foundation

/// Finds out who is signed in, and what that means for what the engine knows.
struct SyncAccount {
    let engine: CKSyncEngine

    /// - Returns: whether anybody is signed in.
    /// - Throws: `CKError` when it cannot be found out.
    func check() async throws -> Bool {
        let current = try await engine.server.account()
        let previous = engine.memory.read(\.user)
        guard current != previous else { return current != nil }
        let change: CKSyncEngine.Event.AccountChange.ChangeType
        switch (previous, current) {
        case (nil, let current?): change = .signIn(currentUser: current)
        case (let previous?, nil): change = .signOut(previousUser: previous)
        case (let previous?, let current?):
            change = .switchAccounts(previousUser: previous, currentUser: current)
        case (nil, nil): return false
        }
        engine.memory.settle { contents in
            // What was added before the first sign-in belongs to the user who signs in.
            if previous != nil { contents.reset() }
            contents.user = current
        }
        await engine.deliver(.accountChange(CKSyncEngine.Event.AccountChange(changeType: change)))
        await engine.tellState()
        return current != nil
    }
}
