// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

/// What only a build with a trait needs, by the library that the trait brings.
let traits = ["CNGHTTP2": "ApplePush", "CPostgreSQL": "PostgreSQL"]

/// A layer of the server.
///
/// Imports go downward only, as `docs/ARCHITECTURE.md` lists.
func layer(_ name: String, in part: Part, _ dependencies: [String]) -> Target {
    // Every layer may import the C library, but for the one that is written in C.
    let platform = name.hasPrefix("C") && part == .system || name == "Platform" ? [] : ["Platform"]
    let dependencies = (dependencies + platform).map { name -> Target.Dependency in
        guard let trait = traits[name] else { return .byName(name: name) }
        return .byName(name: name, condition: .when(traits: [trait]))
    }
    return .target(
        name: name, dependencies: dependencies, path: "Sources/\(part.rawValue)/\(name)",
        swiftSettings: strict)
}

/// What the program says that it was built from; a build without a repository is told by a variable.
let commit =
    Context.environment["LENTICULAR_COMMIT"]
    ?? Context.gitInformation.map {
        $0.currentCommit.prefix(12) + ($0.hasUncommittedChanges ? "-changed" : "")
    } ?? ""

/// Where the console's libraries and their licences lie, as `.ci/console-libraries` puts them; a variable names a folder in
/// the form of `/usr/share/nodejs` in their place.
let consoleLibraries =
    Context.environment["CONSOLE_LIBRARIES"].map { [$0] }
    ?? ["", "\(Context.packageDirectory)/.build/console-libraries"].flatMap {
        ["\($0)/usr/share/nodejs", "\($0)/usr/share/doc"]
    }

/// A part of the house: a folder of `Sources`.
enum Part: String {
    case system = "System"
    case base = "Base"
    case wire = "Wire"
    case cloud = "Cloud"
    case engines = "Engines"
    case program = "Program"
}

/// A program that measures, for nobody's use but a developer's.
func benchmark(_ name: String, in folder: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Benchmarks/\(folder)", swiftSettings: strict)
}

func tests(of name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "lenticular",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "lenticular", targets: ["lenticular"])],
    traits: [
        .trait(
            name: "ApplePush", description: "Pushes to Apple's devices; needs libnghttp2-dev."),
        .trait(
            name: "PostgreSQL",
            description: "The engine on PostgreSQL; needs libpq-dev."),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLite", path: "Sources/System/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "COpenSSL", path: "Sources/System/COpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CZlib", path: "Sources/System/CZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CNGHTTP2", path: "Sources/System/CNGHTTP2", pkgConfig: "libnghttp2",
            providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(
            name: "CPostgreSQL", path: "Sources/System/CPostgreSQL", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"])]),
        .target(name: "CChecksum", path: "Sources/System/CChecksum"),
        .target(name: "CNetwork", path: "Sources/System/CNetwork"),
        .target(
            name: "CProcess", path: "Sources/System/CProcess",
            cSettings: [
                .define("LENTICULAR_COMMIT", to: "\"\(commit)\""), .unsafeFlags(["-std=c23"]),
            ]),
        .target(
            name: "CWebClient", path: "Sources/System/CWebClient",
            cSettings: [.unsafeFlags(["-std=c23"])]),
        .target(
            name: "CConsole", path: "Sources/System/CConsole",
            cSettings: [.unsafeFlags(["-std=c23"] + consoleLibraries.map { "--embed-dir=\($0)" })]),
        .target(
            name: "Migrations", path: "migrations/sqlite", cSettings: [.unsafeFlags(["-std=c23"])]),
        .target(
            name: "PostgreSQLMigrations", path: "migrations/postgres",
            cSettings: [.unsafeFlags(["-std=c23"])]),
        layer("Network", in: .wire, ["COpenSSL", "CNetwork"]),
        layer("HTTP", in: .wire, ["Calendar", "Network", "CZlib"]),
        layer("HTTPClient", in: .wire, ["Network", "HTTP"]),
        layer("HTTP2Client", in: .wire, ["CNGHTTP2", "Network", "HTTP", "HTTPClient"]),
        layer("JSON", in: .wire, []),
        layer("Files", in: .system, []),
        layer("Platform", in: .system, []),
        layer("CLogWrites", in: .system, ["CSQLite"]),
        layer("GroupCommit", in: .engines, []),
        layer(
            "StoredRows", in: .engines,
            ["CloudModel", "Storage", "GroupCommit", "MigrationHistory"]
        ),
        layer("IndexedQueries", in: .engines, ["CloudModel", "Storage"]),
        layer("CatalogSQL", in: .engines, ["CloudModel", "Storage", "StoredRows", "Telemetry"]),
        layer("MigrationHistory", in: .engines, []),
        layer(
            "SQLite", in: .engines,
            ["CSQLite", "CLogWrites", "Files", "GroupCommit", "MigrationHistory"]),
        layer("PostgreSQL", in: .engines, ["CPostgreSQL", "MigrationHistory"]),
        layer("Background", in: .base, []),
        layer("Calendar", in: .base, []),
        layer("Cryptography", in: .base, ["COpenSSL"]),
        layer("ZIP", in: .base, ["CZlib", "Calendar"]),
        layer("QRCode", in: .base, []),
        layer("Mail", in: .wire, ["Network", "Cryptography", "Calendar"]),
        layer("Identity", in: .base, ["Cryptography", "JSON"]),
        layer(
            "Delivery", in: .cloud,
            [
                "CloudModel", "Storage", "Background", "Cryptography", "Identity", "JSON",
                "HTTPClient",
            ]),
        layer("CloudModel", in: .cloud, ["JSON", "Calendar", "Cryptography"]),
        layer("Audit", in: .cloud, ["CloudModel", "Cryptography", "JSON"]),
        layer("RequestRecords", in: .cloud, ["CChecksum", "CloudModel", "Files"]),
        layer("Storage", in: .cloud, ["CloudModel"]),
        layer("Telemetry", in: .cloud, ["CloudModel", "JSON"]),
        layer(
            "AssetStorage", in: .cloud,
            ["CChecksum", "CloudModel", "Background", "Calendar", "Cryptography", "HTTPClient"]),
        layer(
            "Backups", in: .cloud,
            ["CloudModel", "Storage", "AssetStorage", "Cryptography", "Files", "JSON"]),
        layer(
            "SQLiteStorage", in: .engines,
            [
                "CatalogSQL", "CChecksum", "Storage", "CloudModel", "Files", "GroupCommit",
                "IndexedQueries", "MigrationHistory", "SQLite", "Migrations", "StoredRows",
                "Telemetry",
            ]),
        layer(
            "PostgreSQLStorage", in: .engines,
            [
                "Audit", "Background", "CatalogSQL", "CChecksum", "Storage", "CloudModel",
                "GroupCommit", "IndexedQueries", "MigrationHistory", "PostgreSQL",
                "PostgreSQLMigrations", "RequestRecords", "StoredRows", "Telemetry",
            ]),
        layer(
            "CloudDatabase", in: .cloud,
            ["CloudModel", "Storage", "AssetStorage", "Background", "Cryptography", "JSON"]),
        layer("Fairness", in: .cloud, ["CloudModel", "Network"]),
        layer(
            "Accounts", in: .cloud,
            ["CloudModel", "Storage", "Background", "Calendar", "Cryptography", "Identity"]),
        layer(
            "RecordDecoding", in: .cloud,
            ["CloudModel", "CloudDatabase", "Accounts", "Cryptography", "JSON"]),
        layer(
            "Administration", in: .cloud,
            [
                "CloudModel", "Storage", "AssetStorage", "Background", "CloudDatabase",
                "RecordDecoding", "Accounts", "Audit", "JSON", "ZIP", "Delivery", "Cryptography",
                "RequestRecords", "Telemetry",
            ]),
        layer("Configuration", in: .program, ["JSON"]),
        layer(
            "WebServices", in: .cloud,
            [
                "CloudModel", "Storage", "AssetStorage", "CloudDatabase", "RecordDecoding",
                "Accounts", "Cryptography", "HTTP", "JSON", "Fairness", "Delivery",
            ]),
        layer(
            "Pages", in: .cloud,
            [
                "CloudModel", "Storage", "Accounts", "Cryptography", "HTTP", "JSON", "Fairness",
                "QRCode", "Calendar",
            ]),
        layer("Control", in: .program, ["CProcess", "Files", "JSON", "Network"]),
        layer(
            "Server", in: .program,
            [
                "CloudModel", "Storage", "AssetStorage", "HTTPClient", "SQLiteStorage", "SQLite",
                "PostgreSQLStorage", "PostgreSQL",
                "CloudDatabase", "Accounts", "Administration", "Configuration", "WebServices",
                "HTTP", "Network", "JSON", "Cryptography", "CProcess", "Fairness", "Audit",
                "Pages", "Mail", "Files", "Delivery", "HTTP2Client", "Background", "Control",
                "Backups", "CConsole", "CWebClient", "RequestRecords", "Telemetry",
                "RecordDecoding",
            ]),
        layer(
            "Commands", in: .program,
            [
                "CloudModel", "Storage", "CloudDatabase", "Accounts", "Administration", "Audit",
                "Configuration", "Control", "Cryptography", "CProcess", "Delivery", "Files", "JSON",
                "Network", "Pages", "RequestRecords", "Server", "Telemetry",
            ]),
        .executableTarget(
            name: "lenticular", dependencies: ["Commands", "Server"],
            path: "Sources/Program/lenticular", swiftSettings: strict),
        benchmark(
            "SendingBenchmark", in: "sending",
            [
                "Delivery", "CloudModel", "Storage", "Cryptography", "HTTPClient", "HTTP2Client",
                "Network",
            ]),
        benchmark(
            "RequestLinesBenchmark", in: "request-lines",
            ["CloudModel", "Platform", "RequestRecords"]),
        tests(
            of: "BackupsTests",
            [
                "Backups", "AssetStorage", "Storage", "CloudModel", "Cryptography", "S3StandIn",
                "Seeding",
            ]),
        tests(of: "CalendarTests", ["Calendar", "Seeding"]),
        tests(of: "BackgroundTests", ["Background", "Seeding", "Awaiting"]),
        tests(of: "NetworkTests", ["Network", "Awaiting"]),
        tests(of: "FairnessTests", ["Fairness", "CloudModel"]),
        .target(name: "Awaiting", path: "Tests/Awaiting", swiftSettings: strict),
        tests(
            of: "HTTPTests",
            ["HTTP", "HTTPClient", "Network", "CZlib", "COpenSSL", "Seeding", "Awaiting"]),
        tests(of: "HTTPClientTests", ["HTTPClient", "HTTP", "Network", "Seeding", "Awaiting"]),
        .target(
            name: "PythonProgram", dependencies: ["ChildProcesses"], path: "Tests/PythonProgram",
            swiftSettings: strict),
        tests(
            of: "HTTP2ClientTests",
            ["HTTP2Client", "HTTPClient", "Network", "PythonProgram", "Awaiting"]),
        tests(of: "JSONTests", ["JSON", "Seeding"]),
        .target(name: "Seeding", path: "Tests/Seeding", swiftSettings: strict),
        .target(
            name: "ChildProcesses", dependencies: ["CChildProcess"],
            path: "Tests/ChildProcesses", swiftSettings: strict),
        .target(name: "CChildProcess", path: "Tests/CChildProcess"),
        .target(
            name: "SharingModel", dependencies: ["JSON", "Seeding"], path: "Tests/SharingModel",
            swiftSettings: strict),
        .target(name: "CFaultVFS", dependencies: ["CSQLite"], path: "Tests/CFaultVFS"),
        tests(of: "GroupCommitTests", ["GroupCommit", "Seeding"]),
        tests(
            of: "SQLiteTests",
            [
                "SQLite", "GroupCommit", "Files", "CSQLite", "CFaultVFS", "MigrationHistory",
                "Seeding", "Awaiting",
            ]),
        .target(
            name: "PostgreSQLServer", dependencies: ["ChildProcesses"],
            path: "Tests/PostgreSQLServer", swiftSettings: strict),
        tests(
            of: "PostgreSQLTests",
            ["PostgreSQL", "PostgreSQLServer", "MigrationHistory", "Awaiting"]),
        .target(
            name: "StorageConformance", dependencies: ["CloudModel", "Storage"],
            path: "Tests/StorageConformance", swiftSettings: strict),
        tests(
            of: "SQLiteStorageTests",
            [
                "CatalogSQL", "SQLiteStorage", "SQLite", "IndexedQueries", "Storage", "CloudModel",
                "StorageConformance", "Seeding",
            ]),
        tests(
            of: "PostgreSQLStorageTests",
            [
                "PostgreSQLStorage", "PostgreSQL", "PostgreSQLServer", "Storage", "CloudModel",
                "SQLiteStorage", "StorageConformance", "Awaiting", "Seeding", "Telemetry",
                "Audit", "RequestRecords",
            ]),
        tests(of: "CryptographyTests", ["Cryptography", "Seeding"]),
        tests(of: "RequestRecordsTests", ["RequestRecords", "CloudModel", "Files", "Seeding"]),
        tests(of: "AuditTests", ["Audit", "Cryptography", "Seeding"]),
        tests(
            of: "TelemetryTests",
            ["Telemetry", "SQLiteStorage", "SQLite", "CloudModel", "Seeding"]),
        tests(
            of: "MailTests",
            ["Mail", "Network", "Cryptography", "Seeding", "ChildProcesses"]),
        tests(of: "IdentityTests", ["Identity", "Cryptography", "JSON", "Seeding"]),
        tests(
            of: "DeliveryTests",
            [
                "Background", "Delivery", "Identity", "Cryptography", "CloudModel", "Storage",
                "HTTPClient", "HTTP", "JSON", "PythonProgram", "Seeding",
            ]),
        tests(of: "ZIPTests", ["ZIP", "Seeding", "ChildProcesses"]),
        tests(of: "QRCodeTests", ["QRCode", "Seeding", "ChildProcesses"]),
        .target(
            name: "S3StandIn",
            dependencies: [
                "AssetStorage", "CloudModel", "Cryptography", "HTTP", "HTTPClient", "Network",
            ], path: "Tests/S3StandIn", swiftSettings: strict),
        tests(
            of: "AssetStorageTests",
            [
                "AssetStorage", "Awaiting", "CChecksum", "CloudModel", "Cryptography",
                "HTTPClient", "S3StandIn", "Seeding",
            ]),
        tests(of: "ConfigurationTests", ["Configuration", "Seeding"]),
        tests(
            of: "AccountsTests",
            [
                "Accounts", "Background", "SQLiteStorage", "SQLite", "Storage", "CloudModel",
                "Cryptography",
                "CFaultVFS", "MigrationHistory",
            ]),
        tests(
            of: "PagesTests",
            [
                "Pages", "Accounts", "SQLiteStorage", "Storage", "CloudModel", "Cryptography",
                "HTTP", "Identity", "JSON", "QRCode", "Seeding",
            ]),
        tests(
            of: "CloudDatabaseTests",
            [
                "Delivery", "CloudDatabase", "IndexedQueries", "SQLiteStorage", "SQLite", "Storage",
                "CloudModel", "Cryptography", "JSON", "Seeding",
            ]),
        tests(
            of: "WebServicesTests",
            [
                "Background", "WebServices", "CloudDatabase", "Accounts", "AssetStorage",
                "SQLiteStorage",
                "SQLite", "Storage", "CloudModel", "Cryptography", "HTTP", "JSON", "SharingModel",
                "Seeding", "Fairness", "Delivery", "EngineUnderTest",
            ]),
        .target(
            name: "EngineUnderTest",
            dependencies: [
                "CloudModel", "Storage", "PostgreSQL", "PostgreSQLServer", "PostgreSQLStorage",
                "SQLite",
            ], path: "Tests/EngineUnderTest", swiftSettings: strict),
        tests(
            of: "ServerTests",
            [
                "Commands", "Control", "Server", "Configuration", "WebServices", "JSON", "HTTP",
                "Network", "CloudModel",
                "Cryptography", "Storage", "Accounts", "Administration", "AssetStorage", "SQLite",
                "SQLiteStorage", "SharingModel", "S3StandIn", "Seeding", "HTTPClient",
                "ChildProcesses", "PythonProgram", "Awaiting", "Files", "RequestRecords",
                "Telemetry", "PostgreSQLServer", "PostgreSQLStorage", "PostgreSQL", "CConsole",
                "Pages", "CatalogSQL", "Audit", "Delivery", "EngineUnderTest",
            ]),
        tests(
            of: "RepositoryTests",
            ["CloudModel", "Configuration", "WebServices", "ChildProcesses", "Cryptography"]),
    ],
    swiftLanguageModes: [.v6]
)
