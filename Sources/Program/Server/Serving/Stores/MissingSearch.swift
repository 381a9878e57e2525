import CloudModel
import Control
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
        /// Stores whose file is not there or not right, as the last look at them has found.
        var missing: Set<Stores.Key> = []
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
            state.missing.remove(key)
            if state.known?.set.contains(key) == false { state.known = nil }
        }
    }

    func forget(_ key: Stores.Key) {
        state.withLock { state in
            state.known = nil
            state.missing.remove(key)
        }
    }

    /// Refuses files that this version may not open, before the first request asks for one.
    ///
    /// Of many the first are looked into, and the others by `examineMore`. Whether a file is there, all are asked.
    ///
    /// - Returns: the stores whose file is missing, or another's.
    /// - Throws: `CommandFailure` that names the file.
    func begin() throws -> [Stores.Key] {
        let known = try known()
        var missing: [Stores.Key] = []
        for (number, key) in known.enumerated() {
            guard number < Self.examinedAtStart else {
                if try !engine.isThere(key) { missing += note(key) }
                continue
            }
            let (isRight, failure) = try examine(key)
            if let failure { throw failure }
            if !isRight { missing += note(key) }
        }
        state.withLock { $0.unexamined = Array(known.dropFirst(Self.examinedAtStart)) }
        return missing
    }

    /// Takes note that a store's file is not right; gives the store unless that was known.
    private func note(_ key: Stores.Key) -> [Stores.Key] {
        state.withLock { $0.missing.insert(key).inserted } ? [key] : []
    }

    /// Looks into some of the files that the start has left, and for some of all whether they are still there.
    ///
    /// - Returns: the stores whose file is found missing, or another's, and was not before; and why this version
    ///   may not open some others.
    func examineMore() throws -> (missing: [Stores.Key], failures: [CommandFailure]) {
        let keys = state.withLock { state in
            let keys = state.unexamined.prefix(Self.examinedAtOnce)
            state.unexamined.removeFirst(keys.count)
            return keys
        }
        var missing: [Stores.Key] = []
        var failures: [CommandFailure] = []
        for key in keys {
            let (isRight, failure) = try examine(key)
            if let failure { failures.append(failure) }
            if !isRight { missing += note(key) }
        }
        for key in try someKnown() where try !engine.isThere(key) { missing += note(key) }
        return (missing, failures)
    }

    private func examine(
        _ key: Stores.Key
    ) throws -> (isRight: Bool, failure: CommandFailure?) {
        do {
            return (try engine.examine(key), nil)
        } catch let error as any EngineFault where error.isDamage {
            let words =
                "\(engine.words(for: .store(key))) is damaged (\(error)); `lenticular check` says more. Restore a "
                + "backup, or move the file away to serve the other containers"
            return (true, CommandFailure(words))
        } catch {
            return (true, CommandFailure("\(engine.words(for: .store(key))): \(error)"))
        }
    }

    /// How many stores are known to be missing; those that are back count no more.
    var missingCount: Int {
        let missing = state.withLock { $0.missing }
        // NB: one that cannot be read is no better than one that is not there.
        let back = missing.filter { (try? engine.isMissing($0)) == false }
        return state.withLock { state in
            state.missing.subtract(back)
            return state.missing.count
        }
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
