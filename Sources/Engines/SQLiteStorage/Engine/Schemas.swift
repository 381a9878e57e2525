import MigrationHistory
import Migrations
import SQLite

/// What brings the engine's files to the form of this version.
enum Schemas {
    /// Of `catalog.sqlite`.
    static let catalog = Migrator(
        migrations(lenticular_catalog_migrations()),
        olderForms: [
            8_834_605_471_858_249_203: beforeBaseline, 4_488_202_193_481_075_328: beforePages,
        ])
    /// Of a `store.sqlite`.
    static let store = Migrator(
        migrations(lenticular_store_migrations()),
        olderForms: [
            -2_165_929_916_641_096_619: beforeBaseline, -5_992_076_229_092_266_474: beforePages,
        ])

    /// Of `telemetry.sqlite`.
    static let telemetry = Migrator(
        migrations(lenticular_telemetry_migrations()),
        olderForms: [
            39_492_909_459_230_641: beforeStarts, -7_789_346_956_342_400_524: beforeDueAlerts,
        ])

    /// The last commit that reads what servers wrote before all migrations were folded into one.
    private static let beforeBaseline = "072acb1f8680a6e92105afb1a51c1127d285cde8"

    /// The last commit that reads what servers wrote before lists were read page by page.
    private static let beforePages = "b054143b2054c5449841c853ac453a4d2a284736"

    /// The last commit that reads telemetry from before the table of starts was a part of it.
    private static let beforeStarts = "5342f7eef189a1dcf0e6841e0bca95d8166afb0f"

    /// The last commit that reads telemetry whose alerts do not say what is still to be told.
    private static let beforeDueAlerts = "b37b85a2dea6bb7f2c0e5a896adb8e27f98e4b17"

    private static func migrations(_ embedded: lenticular_migrations) -> [Migration] {
        (0..<embedded.count).map { index in
            let file = embedded.first[index]
            let sql = UnsafeRawBufferPointer(start: file.sql, count: file.byteCount)
            return Migration(
                name: String(cString: file.name), sql: String(decoding: sql, as: UTF8.self))
        }
    }
}
