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
        /// Stores whose file is not there or not right, as the last look at them has found.
        var missing: Set<Stores.Key> = []
        /// Behind which store files have still to be looked into; nil when all were.
        var unexamined: ListCursor?
        /// Behind which store the next look for a file begins; nil for the first store.
        var next: ListCursor?
    }

    /// How many files are looked into before the server is ready; the others' turn comes with upkeep.
    private static let examinedAtStart = 32
    private static let examinedAtOnce = 512
    /// How many files one question about the disk asks for.
    private static let filesPerLook = 256

    private let engine: any StorageEngine
    private let location: @Sendable (EnginePart) -> String
    private let state = Mutex(State())

    /// - Parameter location: says what holds a part.
    init(engine: any StorageEngine, location: @escaping @Sendable (EnginePart) -> String) {
        self.engine = engine
        self.location = location
    }

    /// Takes note that a store has been opened, or is gone with its container.
    func forget(_ key: Stores.Key) { state.withLock { _ = $0.missing.remove(key) } }

    /// Refuses files that this version may not open, before the first request asks for one.
    ///
    /// Of many the first are looked into, and the others by `examineMore`. Whether a file is there, all are asked.
    ///
    /// - Returns: the stores whose file is missing, or another's.
    /// - Throws: `CommandFailure` that names the file.
    func begin() throws -> [Stores.Key] {
        var missing: [Stores.Key] = []
        let first = try engine.stores(ListRequest(limit: Self.examinedAtStart))
        try examine(first) { failure in
            throw failure
        } missing: {
            missing += note($0)
        }
        state.withLock { $0.unexamined = first.next }
        var after = first.next
        while after != nil {
            let page = try engine.stores(ListRequest(after: after))
            missing += try missingFiles(of: page)
            after = page.next
        }
        return missing
    }

    private func missingFiles(of page: ListPage<KnownStore>) throws -> [Stores.Key] {
        page.items.filter { !$0.isThere }.map(\.key).flatMap(note)
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
        let (unexamined, next) = state.withLock { ($0.unexamined, $0.next) }
        var missing: [Stores.Key] = []
        var failures: [CommandFailure] = []
        if unexamined != nil {
            let page = try engine.stores(
                ListRequest(after: unexamined, limit: Self.examinedAtOnce))
            try examine(page) {
                failures.append($0)
            } missing: {
                missing += note($0)
            }
            state.withLock { $0.unexamined = page.next }
        }
        let page = try engine.stores(ListRequest(after: next, limit: Self.filesPerLook))
        missing += try missingFiles(of: page)
        state.withLock { $0.next = page.next }
        return (missing, failures)
    }

    private func examine(
        _ page: ListPage<KnownStore>, failed: (CommandFailure) throws -> Void,
        missing: (Stores.Key) -> Void
    ) throws {
        let keys = page.items.map(\.key)
        for (key, found) in zip(keys, try engine.examine(keys)) {
            switch found {
            case .success(.missing): missing(key)
            case .success: break
            case .failure(let error): try failed(failure(of: key, error))
            }
        }
    }

    private func failure(of key: Stores.Key, _ error: any Error) -> CommandFailure {
        guard let fault = error as? any EngineFault, fault.isDamage else {
            return CommandFailure("\(location(.store(key))): \(error)")
        }
        return CommandFailure(
            "\(location(.store(key))) is damaged (\(error)); `lenticular check` says more. Restore a "
                + "backup, or move the file away to serve the other containers")
    }

    /// How many stores are known to be missing; those that are back count no more.
    var missingCount: Int {
        let missing = Array(state.withLock { $0.missing })
        // NB: one that cannot be read is no better than one that is not there.
        let found = (try? engine.examine(missing)) ?? []
        let back = zip(missing, found).filter { _, found in
            switch found {
            case .success(let finding): finding != .missing
            case .failure(let error): (error as? any EngineFault)?.isDamage == true
            }
        }.map(\.0)
        return state.withLock { state in
            state.missing.subtract(back)
            return state.missing.count
        }
    }
}
