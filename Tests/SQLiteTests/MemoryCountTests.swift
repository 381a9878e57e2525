import CSQLite
import Testing

@testable import SQLite

@Suite("SQLite's count of its memory")
struct MemoryCountTests {
    @Test("It is off: a lock around every allocation would have all threads wait for each other")
    func off() async {
        // In a process of its own: SQLite is told so before its first use or never.
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let connection = try Connection(path: folder.file(), mode: .readWrite)
            try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body)")
            #expect(sqlite3_memory_used() == 0)
        }
    }
}
