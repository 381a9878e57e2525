import Migrations
import SQLite

/// What brings the engine's files to the form of this version.
enum Schemas {
    /// Of `catalog.sqlite`.
    static let catalog = Migrator(
        migrations(lenticular_catalog_migrations()),
        olderForms: [8_834_605_471_858_249_203: beforeBaseline])
    /// Of a `store.sqlite`.
    static let store = Migrator(
        migrations(lenticular_store_migrations()),
        olderForms: [-2_165_929_916_641_096_619: beforeBaseline])

    /// The last commit that reads what servers wrote before all migrations were folded into one.
    private static let beforeBaseline = "072acb1f8680a6e92105afb1a51c1127d285cde8"

    private static func migrations(_ embedded: lenticular_migrations) -> [Migration] {
        (0..<embedded.count).map { index in
            let file = embedded.first[index]
            let sql = UnsafeRawBufferPointer(start: file.sql, count: file.byteCount)
            return Migration(
                name: String(cString: file.name), sql: String(decoding: sql, as: UTF8.self))
        }
    }
}
