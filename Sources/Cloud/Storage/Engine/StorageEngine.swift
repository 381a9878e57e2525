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
///   at any moment. `recover` finishes what a crash leaves; every start calls it.
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

    /// Looks into stores, and says of each, in their order, what is there; changes nothing.
    ///
    /// - Returns: an `EngineFault` for a store that this version may not open.
    func examine(_ keys: [StoreKey]) throws -> [Result<StoreFinding, any Error>]

    // MARK: Opening and closing

    /// Opens a store; makes it when the container environment has none yet.
    ///
    /// When the same process opens it again, the store keeps its identity, unless something else has taken
    /// its place.
    ///
    /// - Parameter notices: told of each commit. Anyone who waits there goes on waiting after the store is
    ///   closed.
    /// - Throws: `CatalogRefusal.containerUnknown`; `StorageFailure.missing`, `full`, `tooManyOpen`;
    ///   `EngineFault`.
    func open(_ key: StoreKey, notices: CommitNotices) throws -> any EngineStore

    /// Finishes what waits in an open store and closes it; from then on it refuses writes.
    ///
    /// - Parameter isUnused: whether nobody reads it now, nor will.
    /// - Returns: when its next queued work is due; nil when there is none, and when nobody knows.
    func close(_ key: StoreKey, isUnused: Bool) -> Milliseconds?

    /// Stores when stores are due; skips stores that the engine does not know.
    func setDue(_ stores: [KnownStore]) throws

    // MARK: Beginning anew, and ending

    /// Empties a store and begins it anew with a schema.
    ///
    /// The store must exist and be closed. It keeps the history of its schema. All its tokens expire, and it
    /// never gives out a position again that it gave out before.
    func reset(_ key: StoreKey, to beginning: StoreBeginning) throws

    /// Takes a container out of the catalog with every token, key and user record name in it, and its closed stores
    /// out of everybody's reach; then removes their data.
    ///
    /// A new container of the same name finds nothing of it.
    ///
    /// While that goes on, nobody makes a store of the name: `open` throws `StorageFailure.beginning`.
    ///
    /// - Parameter others: removes what others than the engine keep of the container, before the engine's own data go.
    ///   Before each step it asks `goesOn`, and ends where somebody may have made the container again by now. When it
    ///   throws, `recover` calls it again.
    /// - Throws: `CatalogRefusal.containerUnknown`; then nothing has changed. What the closure throws; then the
    ///   container is gone all the same.
    func remove(_ container: ContainerID, others: (_ goesOn: () -> Bool) throws -> Void) throws

    /// Finishes resets and removals that were cut short, and removes what earlier versions left for a way back, once
    /// that is old.
    ///
    /// - Parameter others: as for `remove`, for each environment of a container of which there are no new data by now;
    ///   what it throws leaves that removal for the next time.
    func recover(others: (StoreKey, _ goesOn: () -> Bool) throws -> Void) throws

    // MARK: Checking

    /// What is wrong with a part, one line for each problem.
    ///
    /// Brings the part to this version if need be, and reads all of it, also while it is in use. What lies where a
    /// store would lie but belongs to none that the catalog knows is a problem of the catalog.
    ///
    /// - Parameter lossesSince: losses that a start has found are listed unless they are older than this.
    func problems(of part: EnginePart, lossesSince moment: Milliseconds) throws -> [String]

    // MARK: Copying

    /// Has `body` read a part as it is at one moment; writes go on meanwhile, and no room is taken.
    ///
    /// - Parameter mark: of an image that the caller has already; nil for none.
    /// - Returns: nil when the part is certain to be as it was in that image.
    /// - Throws: whatever `body` throws, and `EngineFault` for a part that cannot be read.
    func read<Value>(
        _ part: EnginePart, unless mark: [UInt8]?, _ body: (any PartImage) throws -> Value
    ) throws -> Value?

    // MARK: Moving

    /// Has `body` go through the rows of a part as they are at one moment, in a form that every engine takes.
    ///
    /// A store must be closed and stay so.
    ///
    /// - Throws: whatever `body` throws; `StorageFailure.missing`; `DamagedVersion` and `EngineFault` for what cannot be
    ///   read.
    func readRows<Value: Sendable>(
        of part: CopiedPart, _ body: (CopiedRows) throws -> Value
    ) throws -> Value

    /// Has `body` bring in the rows of another engine's part.
    ///
    /// A store lies where nobody can open it before the catalog knows of it, and what a call has brought in is there for
    /// the next, also after a crash. Of the catalog all is taken when `body` returns, or nothing: what it has of the same
    /// people stays, and what is another's makes it refuse.
    ///
    /// - Throws: whatever `body` throws; `CatalogRefusal.containerExists` for a store that the catalog may know;
    ///   `CopyRefusal`; `StorageFailure`.
    func takeRows<Value: Sendable>(
        of part: CopiedPart, _ body: (TakenRows) throws -> Value
    ) throws -> Value

    /// Has a closed store go on with another life, far ahead, so that what a copy of it gives out is no longer known.
    func beginLife(of key: StoreKey) throws

    // MARK: Overwriting

    /// Overwrites what was deleted of a part before the call, wherever the engine has kept it; a store must be open.
    ///
    /// When this returns, no byte of it is left in anything that the engine keeps of the part. It takes steps
    /// between the writes of others, and waits for readers who may still see some of it.
    ///
    /// - Parameter goesOn: asked before each step.
    /// - Throws: `OverwritingEnded`, and as a write.
    func overwriteDeleted(in part: EnginePart, while goesOn: @Sendable () -> Bool) throws

    // MARK: Figures

    /// Who has these data open; does not wait.
    var processes: ServingProcesses { get }

    /// What the engine counts about itself, over all stores that this process has had open.
    var figures: [EngineFigure] { get }

    /// Closes the engine; all stores must be closed already.
    func close()
}
/// What a look for a store finds.
package enum StoreFinding: Sendable {
    /// The catalog does not know it.
    case unknown
    /// Its data are gone, or another store's data are in their place.
    case missing
    case there
}

extension StorageEngine {
    /// Has `body` read a part, whatever the caller has of it already.
    package func read<Value>(
        _ part: EnginePart, _ body: (any PartImage) throws -> Value
    ) throws -> Value {
        guard let value = try read(part, unless: nil, body) else {
            throw BrokenInvariant("an engine keeps from a reader what it has no image of")
        }
        return value
    }

    /// What is there of stores.
    ///
    /// A damaged one is there: what reads it says what is wrong with it.
    ///
    /// - Throws: `EngineFault`.
    package func findings(of keys: [StoreKey]) throws -> [StoreKey: StoreFinding] {
        var findings: [StoreKey: StoreFinding] = [:]
        for (key, found) in zip(keys, try examine(keys)) {
            do { findings[key] = try found.get() } catch let error as any EngineFault
                where error.isDamage
            {
                findings[key] = .there
            }
        }
        return findings
    }

    /// Whether a store is known but its data are gone, or another store's data are in their place.
    package func isMissing(_ key: StoreKey) throws -> Bool {
        try findings(of: [key])[key] == .missing
    }

    /// A page of the asset files that a store refers to, as `PartImage.assets`.
    package func assets(
        of key: StoreKey, after digest: AssetDigest?, limit: Int
    ) throws -> [ReferencedAsset] {
        try read(.store(key)) { try $0.assets(after: digest, limit: limit) }
    }
}

/// An open store as the server holds it.
package protocol EngineStore: Store, SpaceKeeping {
    /// What state the store is in; does not wait.
    var condition: StoreCondition { get }
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
    /// What holds its data does not answer; a write finds out whether it does again.
    case unreachable
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
    /// When it must be opened for work of its own; nil when that was never set.
    package let due: Milliseconds?
    /// Whether a process ended with the store open, so that nobody knows what is due in it.
    package let isLeftOpen: Bool
    /// Whether something holds its data; nothing of them has been read.
    package let isThere: Bool

    package init(
        key: StoreKey, due: Milliseconds?, isLeftOpen: Bool = false, isThere: Bool = true
    ) {
        self.isThere = isThere
        self.key = key
        self.due = due
        self.isLeftOpen = isLeftOpen
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

/// What an operator should know about the opening of a store.
package enum StoreReport: Sendable, Equatable {
    /// The store lacks commits that it had acknowledged.
    case behind(last: Position, acknowledged: Position)
    /// Something that belongs to no store lay in the way and was moved aside.
    ///
    /// It says where that is now, in the engine's words.
    case movedAside(String)
    /// A version was met that is not what was written; each is told of once.
    case damaged(DamagedVersion)
}
