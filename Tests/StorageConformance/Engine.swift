import CloudModel
import Storage
import Synchronization

/// An engine that is held to its contracts.
///
/// The test target of an engine makes one and checks every promise with it:
///
/// ```swift
/// @Test("keeps", arguments: StoragePromise.all)
/// func promise(_ promise: StoragePromise) throws { try promise.check(engine) }
/// ```
package struct Engine: Sendable {
    package let name: String
    /// Makes a place of its own for one store and one catalog, where nothing is yet.
    package let makeLocation: @Sendable (TestClock) throws -> any EngineLocation

    package init(
        name: String, makeLocation: @escaping @Sendable (TestClock) throws -> any EngineLocation
    ) {
        self.name = name
        self.makeLocation = makeLocation
    }
}

/// Where one store and one catalog of an engine lie, for as long as a promise is checked.
package protocol EngineLocation: AnyObject, Sendable {
    /// Opens the store, making it at first.
    func openStore() throws -> any Store

    /// How many changes the store keeps for a follower that does not come; few, so that a test gets there.
    var followerChangesMax: Int { get }

    /// Ends the use of a store that was opened here, as an orderly end of the server does.
    func close(_ store: any Store) throws

    /// Opens what there would be if the server's machine had stopped at this moment; what was open before is not used
    /// again. Nil where that cannot be had.
    func openAfterCrash() throws -> (any Store)?

    /// Opens the same store beside those that are open, as another server process does. Nil for an engine that has one process.
    func openBeside() throws -> (any Store)?

    /// Opens the catalog, making it at first; a further one is as another start of the server finds it.
    func openCatalog() throws -> any CatalogStorage

    /// Takes a container out of a catalog that was opened here, as the removal of the container does.
    func delete(_ container: ContainerID, from catalog: any CatalogStorage) throws

    /// Opens the engine for a server's data that are called so here, as a server does at its start.
    func factory(_ name: String) throws -> any EngineFactory

    /// What the engine's own check finds wrong with the store, a line each; while it is open.
    func problems() throws -> [String]

    /// Removes all of it.
    func remove()
}

/// The time of a test, which stands still unless it is told to go on.
package final class TestClock: Sendable {
    private let moment = Atomic<Milliseconds>(1_700_000_000_000)

    package init() {}

    package var clock: Clock { Clock { self.now } }
    package var now: Milliseconds { moment.load(ordering: .relaxed) }

    package func advance(_ milliseconds: Milliseconds) {
        moment.wrappingAdd(milliseconds, ordering: .relaxed)
    }
}

/// One thing that every engine promises, and how it is found out whether it keeps it.
package struct StoragePromise: Sendable, CustomStringConvertible {
    /// What is promised, as a sentence.
    package let description: String
    let testStore: @Sendable (TestStore) throws -> Void

    init(_ description: String, _ testStore: @escaping @Sendable (TestStore) throws -> Void) {
        self.description = description
        self.testStore = testStore
    }

    /// Tries it in a place of its own; afterwards the engine's own check must find nothing wrong.
    ///
    /// - Throws: `BrokenPromise`, and what the engine reports.
    package func check(_ engine: Engine) throws {
        let clock = TestClock()
        let location = try engine.makeLocation(clock)
        defer { location.remove() }
        let testStore = try TestStore(location, clock)
        try self.testStore(testStore)
        try testStore.end()
    }

    /// Everything that is promised.
    package static let all: [StoragePromise] =
        ofStores + catalog + lists + people + browsers + operators + letters + factors + engines

    /// What is promised of a store.
    package static let ofStores: [StoragePromise] =
        transactions + readsTogether + notices + followers + positions + zones + records
        + currentRecords + names + surveys + schemas + lives + shares + accessRequests
        + memberships + queries + locations + words + assets + subscriptions + destinations + outbox
        + work + collection
}

/// What an engine does that it promises not to, or does not do that it promises.
package struct BrokenPromise: Error, CustomStringConvertible {
    package let description: String
}

/// Fails when a condition does not hold.
func expect(
    _ condition: @autoclosure () throws -> Bool, _ words: @autoclosure () -> String = "",
    file: StaticString = #fileID, line: UInt = #line
) throws {
    guard try !condition() else { return }
    throw BrokenPromise(description: "\(file):\(line) \(words())")
}

/// Fails when two are not equal.
func expect<Value: Equatable>(
    _ found: @autoclosure () throws -> Value, is wanted: @autoclosure () throws -> Value,
    file: StaticString = #fileID, line: UInt = #line
) throws {
    let (found, wanted) = try (found(), wanted())
    guard found != wanted else { return }
    throw BrokenPromise(description: "\(file):\(line) found \(found), expected \(wanted)")
}

/// Fails when there is nothing.
func require<Value>(
    _ value: @autoclosure () throws -> Value?, file: StaticString = #fileID, line: UInt = #line
) throws -> Value {
    guard let value = try value() else {
        throw BrokenPromise(description: "\(file):\(line) found nothing")
    }
    return value
}

/// Fails when a closure does not throw an error of a kind.
func expectFailure<Failure: Error>(
    _ kind: Failure.Type, file: StaticString = #fileID, line: UInt = #line,
    where isRight: (Failure) -> Bool = { _ in true }, _ body: () throws -> Void
) throws {
    do { try body() } catch let failure as Failure where isRight(failure) { return } catch {
        throw BrokenPromise(description: "\(file):\(line) threw \(error)")
    }
    throw BrokenPromise(description: "\(file):\(line) threw nothing")
}
