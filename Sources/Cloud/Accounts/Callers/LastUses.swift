import CloudModel
import Storage
import Synchronization

/// When tokens and keys were last used, remembered until it is written down, for all of them together.
///
/// A crash loses the uses of the last minute.
final class LastUses: Sendable {
    /// A credential that is used all the time is noted this often.
    static let stepMilliseconds: Milliseconds = 60_000
    /// Beyond so many at a time, further credentials are noted in the next round.
    private static let pendingMax = 10_000
    /// Written in one transaction: other writers of the catalog wait for no more.
    private static let writtenAtOnce = 500

    private let pending = Mutex<[UsedCredential: Milliseconds]>([:])

    func note(_ credential: UsedCredential, at now: Milliseconds) {
        pending.withLock { pending in
            guard pending.count < Self.pendingMax || pending[credential] != nil else { return }
            pending[credential] = now
        }
    }

    /// Writes down what was noted since the last time; what cannot be written is dropped.
    ///
    /// Blocks. - Throws: what the catalog reports.
    func write(to catalog: any CredentialCatalog) throws {
        let uses = pending.withLock { pending in
            defer { pending = [:] }
            return pending
        }
        var rest = Array(uses)[...]
        while !rest.isEmpty {
            let step = rest.prefix(Self.writtenAtOnce)
            try catalog.note(
                uses: Dictionary(uniqueKeysWithValues: step.map { ($0.key, $0.value) }))
            rest = rest.dropFirst(step.count)
        }
    }
}
