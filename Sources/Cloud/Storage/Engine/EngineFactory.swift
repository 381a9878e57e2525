import CloudModel

/// Opens an engine: the only place by which a server knows which engine keeps its data.
///
/// A server has a data folder with every engine. The folder holds assets, keys, the log of actions, and the
/// lock that one process holds while it serves. Each engine decides whether it keeps its own data there too.
package protocol EngineFactory: Sendable {
    /// What operators call the parts of this engine's data.
    var words: EngineWords { get }

    /// Whether an engine already keeps data for a folder, or has made a backup in it.
    func hasData(for folder: String) throws -> Bool

    /// Opens the catalog; makes it the first time, and brings it to this version.
    ///
    /// - Parameter folder: the caller holds its lock.
    /// - Throws: `EngineFault` when the data are damaged or not of this version; `StorageFailure`.
    func open(for folder: String, _ options: EngineOptions) throws -> any StorageEngine

    // MARK: Restoring

    /// The stores that a backup has.
    func stores(inBackup folder: String) throws -> [StoreKey]

    /// Restores a store from a backup; nobody sees it before `finishRestoring`.
    ///
    /// The store begins another life (`StoreIdentity`). So it does not mistake what the store gave out after
    /// the backup for what it gives out from now on.
    ///
    /// - Parameter folder: where the restored data are put together.
    /// - Returns: the assets that the store refers to.
    func restore(
        _ key: StoreKey, fromBackup backup: String, into folder: String
    ) throws -> any AssetRows

    /// Restores the catalog from a backup, as `restore` does for a store.
    func restoreCatalog(fromBackup backup: String, into folder: String) throws

    /// Restores the catalog or a store from the bytes that `StorageEngine.read` gave, as `restoreCatalog` and `restore` do.
    ///
    /// - Parameter write: hands on all of them in their order.
    /// - Throws: whatever `write` throws, and `EngineFault` for bytes that are damaged or not of this version.
    func restore(
        _ part: EnginePart, into folder: String,
        from write: (_ visit: ([UInt8]) throws -> Void) throws -> Void
    ) throws

    /// Puts the restored catalog in its place.
    ///
    /// This is the last step: from then on the folder has data. The caller has already moved the stores'
    /// folders.
    func finishRestoring(from folder: String, into target: String) throws
}

/// What operators call the parts of an engine's data.
package struct EngineWords: Sendable {
    package let catalog: String
    package let store: String

    package init(catalog: String, store: String) {
        self.catalog = catalog
        self.store = store
    }
}

/// What an engine is given when it is opened.
package struct EngineOptions: Sendable {
    package var clock: Clock
    /// Makes that many random bytes, which nobody must be able to guess.
    package var random: @Sendable (Int) -> [UInt8]
    /// Called with what the opening of a store has found.
    package var report: @Sendable (StoreKey, StoreReport) -> Void
    /// Called once when the outcome of a commit is unknown; the process must end.
    package var onIndeterminate: @Sendable (String) -> Void

    package init(
        clock: Clock, random: @escaping @Sendable (Int) -> [UInt8],
        report: @escaping @Sendable (StoreKey, StoreReport) -> Void,
        onIndeterminate: @escaping @Sendable (String) -> Void
    ) {
        self.clock = clock
        self.random = random
        self.report = report
        self.onIndeterminate = onIndeterminate
    }
}

/// The place where an engine keeps its data is at fault: trying again does not help.
///
/// Errors of the engines themselves are such faults. The description is in the engine's words.
package protocol EngineFault: Error, CustomStringConvertible {
    var finding: EngineFinding { get }
}

/// What an engine's fault means for an operator.
package enum EngineFinding: Sendable {
    /// The data cannot be read any more: only a backup helps.
    case damaged
    /// The data belong to another program or another version.
    case foreign
    case other
}

extension EngineFault {
    package var isDamage: Bool { finding == .damaged }
}
