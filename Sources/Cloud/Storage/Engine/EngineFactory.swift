import CloudModel

/// Opens an engine: the only place by which a server knows which engine keeps its data.
///
/// It is made for one server's data, wherever the engine keeps them. While it is used, the server holds the lock by which
/// one process alone serves these data.
package protocol EngineFactory: Sendable {
    /// What operators call the parts of this engine's data, and what they are called in a backup.
    var words: EngineWords { get }

    /// Whether the engine already keeps data.
    func hasData() throws -> Bool

    /// Opens the catalog; makes it the first time, and brings it to this version.
    ///
    /// - Throws: `EngineFault` when the data are damaged or not of this version; `StorageFailure`.
    func open(_ options: EngineOptions) throws -> any StorageEngine

    // MARK: Restoring

    /// Restores a part from the bytes that an image of it gave, the catalog last: from then on there are data.
    ///
    /// A restored store begins another life (`StoreIdentity`). So it does not mistake what it gave out after the
    /// backup for what it gives out from now on.
    ///
    /// - Parameters:
    ///   - write: hands on all the bytes in their order.
    ///   - visit: gets the asset files that the part refers to, in the order of their digests.
    /// - Throws: whatever the closures throw, and `EngineFault` for bytes that are damaged or not of this version.
    func restore(
        _ part: EnginePart,
        from write: (_ visit: ([UInt8]) throws -> Void) throws -> Void,
        assets visit: (ReferencedAsset) throws -> Void
    ) throws
}

/// What operators call the parts of an engine's data, and what they are called in a backup.
package struct EngineWords: Sendable {
    package let catalog: String
    package let store: String
    /// What holds a part of the data, for operators who look after it.
    package let location: @Sendable (_ part: EnginePart) -> String

    package init(
        catalog: String, store: String,
        location: @escaping @Sendable (_ part: EnginePart) -> String
    ) {
        self.catalog = catalog
        self.store = store
        self.location = location
    }
}

/// What an engine is given when it is opened.
package struct EngineOptions: Sendable {
    package var clock: Clock
    /// Names this process among those on a database; random.
    package var process: [UInt8]
    /// Of the program, for those who see the processes of a database.
    package var programVersion = ""
    /// Names where the assets are, which all processes on a database must share; empty for what no other process has.
    package var assets = ""
    /// Makes that many random bytes, which nobody must be able to guess.
    package var random: @Sendable (Int) -> [UInt8]
    /// Called with what the opening of a store has found.
    package var report: @Sendable (StoreKey, StoreReport) -> Void
    /// Called with an open store whose data another process has removed or replaced, so that it is closed.
    package var onGone: @Sendable (StoreKey) -> Void = { _ in }
    /// Called once when the outcome of a commit to a file is unknown; the process must end.
    ///
    /// An engine on a database never calls it: every process there goes by what the database says.
    package var onIndeterminate: @Sendable (String) -> Void

    package init(
        clock: Clock, random: @escaping @Sendable (Int) -> [UInt8],
        report: @escaping @Sendable (StoreKey, StoreReport) -> Void,
        onIndeterminate: @escaping @Sendable (String) -> Void
    ) {
        self.clock = clock
        self.random = random
        process = random(16)
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
