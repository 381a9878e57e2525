import CloudModel

/// Opens an engine: the one thing by which a server knows which engine keeps its data.
///
/// A server has a data folder with any engine: for assets, keys, the log of actions, and the lock that one
/// process holds while it serves. Whether the engine keeps its data there too is its own matter.
package protocol EngineFactory: Sendable {
    /// What an operator calls what the catalog and a store lie in.
    var words: EngineWords { get }

    /// Whether an engine has begun to keep data for a folder, or has made a backup in it.
    func hasData(for folder: String) throws -> Bool

    /// Opens the catalog, making it at first and bringing it to this version.
    ///
    /// - Parameter folder: whose lock the caller holds.
    /// - Throws: `EngineFault` for data that are damaged or not this version's; `StorageFailure`.
    func open(for folder: String, _ options: EngineOptions) throws -> any StorageEngine

    // MARK: Restoring

    /// The stores that a backup has.
    func stores(inBackup folder: String) throws -> [StoreKey]

    /// Takes a store out of a backup; nobody sees it before `finishRestoring`.
    ///
    /// It begins another life: what was handed out after the copy was made is not taken for what comes from now on.
    ///
    /// - Parameter folder: in which the restored data grow.
    /// - Returns: the assets that it speaks of.
    func restore(
        _ key: StoreKey, fromBackup backup: String, into folder: String
    ) throws -> any AssetRows

    /// As `restore`, of the catalog.
    func restoreCatalog(fromBackup backup: String, into folder: String) throws

    /// Puts the restored catalog in its place; the last step, after which the folder has data.
    ///
    /// The caller has moved the stores' folders.
    func finishRestoring(from folder: String, into target: String) throws
}

/// What an operator calls the parts of an engine's data.
package struct EngineWords: Sendable {
    package let catalog: String
    package let store: String

    package init(catalog: String, store: String) {
        self.catalog = catalog
        self.store = store
    }
}

/// What is handed to an engine.
package struct EngineOptions: Sendable {
    package var clock: Clock
    /// Random bytes; what they become must not be guessed.
    package var random: @Sendable (Int) -> [UInt8]
    /// Told what openings of stores have found.
    package var report: @Sendable (StoreKey, StoreReport) -> Void
    /// Called once when a commit's outcome is unknown; the process must end.
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

/// A fault of what an engine's data lie in: trying again does not help.
///
/// Engines' own errors are such faults; the description is in the engine's words.
package protocol EngineFault: Error, CustomStringConvertible {
    var finding: EngineFinding { get }
}

/// What an engine's fault means to an operator.
package enum EngineFinding: Sendable {
    /// The data cannot be read any more: only a backup helps.
    case damaged
    /// The data are another program's or another version's.
    case foreign
    case other
}

extension EngineFault {
    package var isDamage: Bool { finding == .damaged }
}
