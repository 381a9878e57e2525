import Dispatch
import Synchronization

/// Read-only connections to one database file, lent to one snapshot each.
package final class ReaderPool: Sendable {
    /// How many readers there are and how long each may take.
    package struct Options: Sendable {
        /// How many snapshots are read at once; further ones wait.
        package var connectionsMax = 4
        /// The most memory of each connection's page cache.
        package var cacheKiB = 8_192
        /// How long one snapshot may last.
        package var snapshotSecondsMax = 10.0
        /// A monotonic clock, in nanoseconds.
        package var now: @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
        /// The virtual file system by its SQLite name; nil is the system's.
        package var fileSystem: String?
        /// Knows the readers that the writer ends when the log gets too long; nil for none.
        package var snapshots: OpenSnapshots?

        package init() {}
    }

    package let path: String
    private let options: Options
    private let free: DispatchSemaphore
    /// A connection is here or lent to one thread, never both.
    private let idle = Mutex<[ExclusiveValue<Connection>]>([])

    /// A pool on a database that exists; connections are opened as they are needed.
    package init(path: String, options: Options = Options()) {
        self.path = path
        self.options = options
        free = DispatchSemaphore(value: options.connectionsMax)
    }

    /// Runs `body` on one snapshot, waiting for a free connection.
    ///
    /// Never call it on an event loop, nor within another read of the same pool.
    ///
    /// - Throws: whatever `body` throws; `SQLiteError`, of kind `interrupted` past the deadline.
    package func read<Value>(_ body: (Connection) throws -> Value) throws -> Value {
        free.wait()
        defer { free.signal() }
        let connection = try idle.withLock { $0.popLast() }?.value ?? makeReader()
        do {
            let value = try connection.snapshot(body)
            giveBack(connection)
            return value
        } catch let error as SQLiteError where error.endsConnection {
            throw error
        } catch {
            giveBack(connection)
            throw error
        }
    }

    /// A connection of the caller's own, with the pool's limits; for one event loop, for instance.
    ///
    /// - Throws: `SQLiteError` when the file cannot be opened.
    package func makeReader() throws -> Connection {
        let connection = try Connection(
            path: path, mode: .readOnly, cacheKiB: options.cacheKiB,
            fileSystem: options.fileSystem)
        connection.limitSnapshots(
            secondsMax: options.snapshotSecondsMax, now: options.now,
            snapshots: options.snapshots)
        return connection
    }

    /// Closes the connections that nobody holds.
    package func close() { idle.withLock { $0.removeAll() } }

    private func giveBack(_ connection: Connection) {
        let lent = ExclusiveValue(connection)
        idle.withLock { $0.append(lent) }
    }
}
