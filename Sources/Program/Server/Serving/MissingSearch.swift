import CloudModel
import Storage
import Synchronization

/// Looks for stores that the catalog knows, but whose file is missing, belongs to another store, or
/// is not for this version.
///
/// A server may have tens of thousands of stores. So each look is at some of them, and goes on
/// where the last one ended.
final class MissingSearch: Sendable {
    private struct State {
        /// What the catalog knows; nil when it has to be read again.
        var known: (list: [Stores.Key], set: Set<Stores.Key>)?
        /// Stores whose file is not right, and that were not opened since.
        var refused: Set<Stores.Key> = []
        /// Stores whose file has still to be looked into.
        var unexamined: [Stores.Key] = []
        /// Where the next look for a file begins.
        var next = 0
    }

    /// How many files are looked into before the server is ready; the others' turn comes with upkeep.
    private static let examinedAtStart = 32
    private static let examinedAtOnce = 512
    /// How many files one question about the disk asks for.
    private static let filesPerLook = 256

    private let engine: any StorageEngine
    private let state = Mutex(State())

    init(engine: any StorageEngine) { self.engine = engine }

    /// The stores that the catalog knows.
    func known() throws -> [Stores.Key] {
        if let known = state.withLock({ $0.known }) { return known.list }
        let known = try engine.stores()
        state.withLock { $0.known = (known, Set(known)) }
        return known
    }

    /// Takes note that a store has been opened.
    func found(_ key: Stores.Key) {
        state.withLock { state in
            state.refused.remove(key)
            if state.known?.set.contains(key) == false { state.known = nil }
        }
    }

    func forget(_ key: Stores.Key) {
        state.withLock { state in
            state.known = nil
            state.refused.remove(key)
        }
    }

    /// Refuses files that this version may not open, before the first request asks for one.
    ///
    /// Of many the first are looked into, and the others by `examineMore`.
    ///
    /// - Throws: `CommandFailure` that names the file.
    func begin() throws {
        try engine.finishResets()
        let known = try known()
        for key in known.prefix(Self.examinedAtStart) {
            if let failure = try examine(key) { throw failure }
        }
        state.withLock { $0.unexamined = Array(known.dropFirst(Self.examinedAtStart)) }
    }

    /// Looks into some of the files that the start has left.
    ///
    /// - Returns: those that this version may not open.
    func examineMore() throws -> [CommandFailure] {
        let keys = state.withLock { state in
            let keys = state.unexamined.prefix(Self.examinedAtOnce)
            state.unexamined.removeFirst(keys.count)
            return keys
        }
        return try keys.compactMap { try examine($0) }
    }

    private func examine(_ key: Stores.Key) throws -> CommandFailure? {
        do {
            if try !engine.examine(key) { _ = state.withLock { $0.refused.insert(key) } }
            return nil
        } catch let error as any EngineFault where error.isDamage {
            return CommandFailure(
                "\(engine.words(for: key)) is damaged (\(error)); `lenticular check` says more. Restore a "
                    + "backup, or move the file away to serve the other containers")
        } catch {
            return CommandFailure("\(engine.words(for: key)): \(error)")
        }
    }

    /// Names a store whose file is not right; nil when none is known to be so.
    var trouble: String? {
        // NB: a catalog or a file that cannot be read shows elsewhere.
        let gone = (try? someKnown())?.first { (try? engine.isThere($0)) != true }
        let refused = state.withLock { $0.refused }
        // NB: one that cannot be read is no better than one that is not there.
        let stays = refused.first { (try? engine.isMissing($0)) ?? true }
        guard let key = gone ?? stays else { return nil }
        return "store missing: \(key.container.name) \(key.environment.rawValue)"
    }

    private func someKnown() throws -> [Stores.Key] {
        let known = try known()
        guard known.count > Self.filesPerLook else { return known }
        let first = state.withLock { state in
            let first = state.next < known.count ? state.next : 0
            state.next = first + Self.filesPerLook
            return first
        }
        return Array(known[first...].prefix(Self.filesPerLook))
    }
}
