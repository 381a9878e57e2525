import CloudModel

/// Keeps all of a server's data: one catalog, and a store for each container environment.
///
/// `EngineFactory` opens an engine. The server knows an engine only by these two contracts, by `EngineStore`
/// and by `CatalogStorage`. It never learns where the data lie.
///
/// # What an engine promises
///
/// - The catalog and the stores agree. A store is *known* from the moment that its data are on disk. If the
///   data of a known store are gone, the engine refuses to open it and never makes it anew. Otherwise an
///   empty store would pass for all there is.
/// - What reaches beyond one store (`reset`, `remove`) happens as a whole or not at all, also after a crash
///   at any moment. `finishResets` and `removals` finish what a crash leaves; every start calls them.
/// - Every member blocks. It may be called on any thread but an event loop's.
///
/// # What the caller sees to
///
/// A key never has more than one open store. No two threads open, close, reset or remove the same key at the
/// same time.
///
/// Members throw `StorageFailure` for faults that pass, and `EngineFault` for those that do not.
package protocol StorageEngine: AnyObject, Sendable {
    var catalog: any CatalogStorage { get }

    // MARK: Which stores there are

    /// The known stores, in the order of their containers' folded names and of their environments; searched by
    /// the containers.
    ///
    /// - Throws: `UnusableCursor`.
    func stores(_ request: ListRequest) throws -> ListPage<KnownStore>

    /// Whether something holds a store in its place; nothing of it is read.
    func isThere(_ key: StoreKey) throws -> Bool

    /// Whether a store is known but its data are gone, or another store's data are in their place.
    func isMissing(_ key: StoreKey) throws -> Bool

    /// Checks whether this version may open a known store; changes nothing.
    ///
    /// - Returns: false for a store that is missing.
    /// - Throws: `EngineFault`.
    func examine(_ key: StoreKey) throws -> Bool

    /// What lies where a store would lie but belongs to no known store, each in words for the operator.
    func strays() throws -> [String]

    /// What holds a store, in words for the operator.
    func words(for key: StoreKey) -> String

    // MARK: Opening and closing

    /// Opens a store; makes it when the container environment has none yet.
    ///
    /// When the same process opens it again, the store keeps its identity, unless something else has taken
    /// its place.
    ///
    /// - Parameter notices: told of each commit. Whoever waits there goes on waiting after the store is
    ///   closed.
    /// - Throws: `CatalogRefusal.containerUnknown`; `StorageFailure.missing`, `full`, `tooManyFiles`;
    ///   `EngineFault`.
    func open(_ key: StoreKey, notices: CommitNotices) throws -> any EngineStore

    /// Finishes what waits in an open store and closes it; from then on it refuses writes.
    ///
    /// - Parameter isUnused: whether nobody reads it now, nor will.
    /// - Returns: when its next queued work is due; nil when there is none, and when nobody knows.
    func close(_ key: StoreKey, isUnused: Bool) -> Milliseconds?

    /// Stores when stores are due; skips stores that the engine does not know.
    func setDue(_ stores: [KnownStore]) throws

    /// Whether a process ended with this store open, so that nobody knows what is due in it.
    func isUnfinished(_ key: StoreKey) -> Bool

    // MARK: Beginning anew, and ending

    /// Empties a store and begins it anew with a schema.
    ///
    /// The store must exist and be closed. It keeps the history of its schema. All its tokens expire, and it
    /// never gives out a position again that it gave out before.
    func reset(_ key: StoreKey, to beginning: StoreBeginning) throws

    /// Finishes resets that were cut short.
    func finishResets() throws

    /// Takes a container out of the catalog, and its closed stores out of everybody's reach.
    ///
    /// A new container of the same name finds nothing of it. `finish` removes what is left.
    ///
    /// - Throws: `CatalogRefusal.containerUnknown`; then nothing has changed.
    func remove(_ container: ContainerID) throws -> StoreRemoval

    /// Removals that were not finished.
    func removals() throws -> [StoreRemoval]

    /// Removes what is left of a removed container.
    func finish(_ removal: StoreRemoval) throws

    // MARK: Checking

    /// What is wrong with the catalog, one line for each problem; reads all of it, also while it is in use.
    func catalogProblems() throws -> [String]

    /// What is wrong with a store, one line for each problem.
    ///
    /// Brings the store to this version if need be, and reads all of it, also while it is in use.
    ///
    /// - Parameter lossesSince: losses that a start has found are listed unless they are older than this.
    func problems(of key: StoreKey, lossesSince moment: Milliseconds) throws -> [String]

    /// The asset files that a store refers to; may be read while the store is in use.
    func assets(of key: StoreKey) -> any AssetRows

    // MARK: Copying

    /// How many bytes a copy of a store takes at most.
    func copyBytes(of key: StoreKey) -> Int64

    /// Copies a store as it is at one moment, and reads the copy through; writes go on meanwhile.
    ///
    /// - Parameter folder: of a backup that has no copy of this store yet.
    /// - Returns: the files that it made below the folder, and the assets that they refer to.
    func copy(_ key: StoreKey, into folder: String) throws -> StoreCopy

    /// Copies the catalog, as `copy` does a store; replaces a copy that is there already.
    func copyCatalog(into folder: String) throws -> [String]

    /// What stays the same as long as a part does; nil where nobody can tell without reading it.
    func mark(of part: EnginePart) -> [UInt8]?

    /// Has `body` read a part as it is at one moment; writes go on meanwhile, and no room is taken.
    ///
    /// - Throws: whatever `body` throws, and `EngineFault` for a part that cannot be read.
    func read<Value>(_ part: EnginePart, _ body: (PartImage) throws -> Value) throws -> Value

    // MARK: Overwriting

    /// As `EngineStore.overwriteDeleted`, for the catalog.
    func overwriteDeletedInCatalog(while goesOn: @Sendable () -> Bool) throws

    // MARK: Figures

    /// What the engine counts about itself, over all stores that this process has had open.
    var figures: [EngineFigure] { get }

    /// Closes the engine; all stores must be closed already.
    func close()
}

/// An open store as the server holds it.
package protocol EngineStore: Store {
    /// Whether its worker is doing a step, or is about to.
    var isWorking: Bool { get }

    /// What state the store is in; does not wait.
    var condition: StoreCondition { get }

    /// Overwrites what was deleted before the call, wherever the engine has kept it.
    ///
    /// When this returns, no byte of it is left in anything that the engine keeps of the store. It takes steps
    /// between the writes of others, and waits for readers who may still see some of it.
    ///
    /// - Parameter goesOn: asked before each step.
    /// - Throws: `OverwritingEnded`, and as a write.
    func overwriteDeleted(while goesOn: @Sendable () -> Bool) throws
}

/// The caller wanted overwriting to end before it was done; call it again.
package struct OverwritingEnded: Error {
    package init() {}
}

/// The state of an open store.
package enum StoreCondition: Sendable {
    case well
    /// It refuses writes because there is no room.
    case full
    /// The outcome of a commit is unknown: only a restart helps.
    case failed
}

extension StorageEngine {
    /// The known stores of one container.
    package func stores(of container: ContainerID) throws -> [StoreKey] {
        // No name comes before the prefix itself.
        let request = ListRequest(limit: Environment.allCases.count, prefix: container.folded)
        return try stores(request).items.map(\.key).filter { $0.container == container }
    }
}

/// A store that has been made, whether its data are in place or not.
package struct KnownStore: Sendable, Equatable {
    package let key: StoreKey
    /// When it must be opened for work of its own; 0 when that was never set.
    package let due: Milliseconds

    package init(key: StoreKey, due: Milliseconds) {
        self.key = key
        self.due = due
    }
}

/// What a store that begins anew writes into its schema's history about that.
package struct StoreBeginning: Sendable {
    package let schema: Schema
    package let moment: Milliseconds
    package let who: String
    /// How the schema differs from the one before.
    package let difference: [String]

    package init(schema: Schema, moment: Milliseconds, who: String, difference: [String]) {
        self.schema = schema
        self.moment = moment
        self.who = who
        self.difference = difference
    }
}

/// A container that is gone from the catalog and whose data have still to be removed.
package struct StoreRemoval: Sendable {
    /// The container's folded name.
    package let name: String
    /// The container; nil when a new container has its name by now.
    package let container: ContainerID?

    package init(name: String, container: ContainerID?) {
        self.name = name
        self.container = container
    }
}

/// What an operator should know about the opening of a store.
package enum StoreReport: Sendable, Equatable {
    /// The store lacks commits that it had acknowledged.
    case behind(last: Position, acknowledged: Position)
    /// Something that belongs to no store lay in the way and was moved aside.
    case stray(path: String)
    /// A version was met that is not what was written; each is told of once.
    case damaged(DamagedVersion)
}
