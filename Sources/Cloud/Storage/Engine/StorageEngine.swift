import CloudModel

/// What keeps all of a server's data: one catalog, and a store for each container environment.
///
/// `EngineFactory` opens one. The server knows an engine by these two contracts, and by `EngineStore` and
/// `CatalogStorage`; it never learns what the data lie in.
///
/// # What is promised
///
/// - The catalog and the stores agree. A store is *known* from the moment that its data are on disk. A known
///   store whose data are not there is refused, never made anew: an empty one would be taken for all there is.
/// - What reaches further than one store (`reset`, `remove`) has happened or has not, also after a crash at any
///   moment. What a crash leaves is finished by `finishResets` and `removals`, which every start asks for.
/// - Every member blocks and may be called on any thread but an event loop's.
///
/// # Misuse
///
/// Of one key there is never more than one open store, and nobody opens, closes, resets or removes one key on
/// two threads at a time: the caller sees to both.
///
/// Members throw `StorageFailure` for what passes, and an `EngineFault` for what does not.
package protocol StorageEngine: AnyObject, Sendable {
    var catalog: any CatalogStorage { get }

    // MARK: Which stores there are

    /// Every known store, in the order of their containers' folded names.
    func stores() throws -> [StoreKey]

    /// The known stores that links to shares may lead to which begin as those of the first versions did.
    func storesWithEarlyLinks() throws -> [StoreKey]

    /// Whether something is there that holds a store; nothing of it is read.
    func isThere(_ key: StoreKey) throws -> Bool

    /// Whether a store is known and its data are not there, or are another's.
    func isMissing(_ key: StoreKey) throws -> Bool

    /// Looks whether a known store may be opened by this version; changes nothing.
    ///
    /// - Returns: false for one that is missing.
    /// - Throws: `EngineFault`.
    func examine(_ key: StoreKey) throws -> Bool

    /// Whether the next opening of a store brings it to this version.
    func isOfFormerVersion(_ key: StoreKey) throws -> Bool

    /// What stands where a store would be and belongs to no known store, each in words for the operator.
    func strays() throws -> [String]

    /// What holds a store, in words for the operator.
    func words(for key: StoreKey) -> String

    // MARK: Opening and closing

    /// Opens a store, or makes the first one of a container environment.
    ///
    /// Opened again by the same process, it goes on with its identity unless something else has taken its place.
    ///
    /// - Parameter notices: told of each commit; those who wait there go on waiting when it is closed.
    /// - Throws: `CatalogRefusal.containerUnknown`; `StorageFailure.missing`, `full`, `tooManyFiles`;
    ///   `EngineFault`.
    func open(_ key: StoreKey, notices: CommitNotices) throws -> any EngineStore

    /// Finishes what waits in an open store, and closes it; it refuses writes from then on.
    ///
    /// - Parameter isUnused: whether nobody reads, nor will.
    /// - Returns: when its next queued work is due; nil for none, and when nobody knows.
    func close(_ key: StoreKey, isUnused: Bool) -> Milliseconds?

    /// When each known store has to be opened for work of its own; 0 for one that nobody has said anything of.
    func dueMoments() throws -> [DueMoment]

    /// Keeps when stores are due; passes over those that it does not know.
    func setDue(_ moments: [DueMoment]) throws

    /// Whether a store was left open by a process that ended, so that nobody knows what is due in it.
    func isUnfinished(_ key: StoreKey) -> Bool

    // MARK: Beginning anew, and ending

    /// Has a store, which is there and closed, begin anew with a schema and nothing else.
    ///
    /// It keeps its schema's history. Its tokens expire, and no position that it gave out is given out again.
    func reset(_ key: StoreKey, to beginning: StoreBeginning) throws

    /// Finishes what resets have left that were cut short.
    func finishResets() throws

    /// Takes a container out of the catalog, and its closed stores out of everybody's reach.
    ///
    /// A container that is made again under the name finds nothing of it. What is left goes with `finish`.
    ///
    /// - Throws: `CatalogRefusal.containerUnknown`; then everything is as it was.
    func remove(_ container: ContainerID) throws -> StoreRemoval

    /// Removals that were not finished.
    func removals() throws -> [StoreRemoval]

    /// Removes what is left of a removed container.
    func finish(_ removal: StoreRemoval) throws

    // MARK: Checking

    /// What is wrong with the catalog, a line each; reads all of it, also while it is in use.
    func catalogProblems() throws -> [String]

    /// What is wrong with a store of this version, a line each; reads all of it, also while it is in use.
    ///
    /// - Parameter lossesSince: losses that a start has found are told when they are not older.
    func problems(of key: StoreKey, lossesSince moment: Milliseconds) throws -> [String]

    /// The files of assets that a store speaks of, also while it is in use.
    func assets(of key: StoreKey) -> any AssetRows

    // MARK: Copying

    /// How many bytes a copy of a store takes, at most.
    func copyBytes(of key: StoreKey) -> Int64

    /// Copies a store as it is at one moment, and reads the copy through; writes go on meanwhile.
    ///
    /// - Parameter folder: of a backup, where no copy of it is yet.
    /// - Returns: the files that it made below the folder, and what they say of assets.
    func copy(_ key: StoreKey, into folder: String) throws -> StoreCopy

    /// As `copy`, of the catalog; a copy that is there already is replaced.
    func copyCatalog(into folder: String) throws -> [String]

    // MARK: Figures

    /// What the engine counts of itself, over all stores that this process has had open.
    var figures: [EngineFigure] { get }

    /// Ends the use of the engine, whose stores are closed.
    func close()
}

/// An open store, as the server keeps it.
package protocol EngineStore: Store {
    /// Whether its worker is at a step, or about to be.
    var isWorking: Bool { get }

    /// How it is faring; does not wait.
    var condition: StoreCondition { get }
}

/// How an open store is faring.
package enum StoreCondition: Sendable {
    case well
    /// Writes are refused because there is no room.
    case full
    /// A commit's outcome is unknown: only a restart helps.
    case failed
}

/// When a store has to be opened for work of its own.
package struct DueMoment: Sendable {
    package let key: StoreKey
    package let due: Milliseconds

    package init(key: StoreKey, due: Milliseconds) {
        self.key = key
        self.due = due
    }
}

/// What a store that begins anew says of that in its history.
package struct StoreBeginning: Sendable {
    package let schema: Schema
    package let moment: Milliseconds
    package let who: String
    /// What differs from the schema before.
    package let difference: [String]

    package init(schema: Schema, moment: Milliseconds, who: String, difference: [String]) {
        self.schema = schema
        self.moment = moment
        self.who = who
        self.difference = difference
    }
}

/// A container that is out of the catalog and whose data have still to go.
package struct StoreRemoval: Sendable {
    /// The container's folded name.
    package let name: String
    /// The container; nil when one has been made again under the name.
    package let container: ContainerID?

    package init(name: String, container: ContainerID?) {
        self.name = name
        self.container = container
    }
}

/// What the opening of a store has found that its operator should know.
package enum StoreReport: Sendable, Equatable {
    /// It has less than it had acknowledged.
    case behind(last: Position, acknowledged: Position)
    /// One of an earlier version is about to be migrated; a copy of it is kept where there is one.
    case migrating(version: Int, copy: String?)
    /// What belongs to no store was put out of its way.
    case stray(path: String)
}
