// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

/// A layer of the server.
///
/// Imports go downward only, as `docs/ARCHITECTURE.md` lists.
func layer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(
    of name: String, _ dependencies: [Target.Dependency], besides: [String] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, exclude: besides, swiftSettings: strict)
}

let package = Package(
    name: "lenticular",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "lenticular", targets: ["lenticular"])],
    targets: [
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CChecksum"),
        .target(name: "CNetwork"),
        .target(name: "CProcess"),
        .target(
            name: "Migrations", path: "migrations/sqlite", cSettings: [.unsafeFlags(["-std=c23"])]),
        layer("Network", ["COpenSSL", "CNetwork"]),
        layer("HTTP", ["Network", "CZlib"]),
        layer("HTTPClient", ["Network", "HTTP"]),
        layer("JSON", []),
        layer("Files", []),
        layer("SQLite", ["CSQLite", "Files"]),
        layer("Cryptography", ["COpenSSL"]),
        layer("ZIP", ["CZlib"]),
        layer("QRCode", []),
        layer("Mail", ["Network", "Cryptography"]),
        layer("Identity", ["Cryptography", "JSON"]),
        layer("Delivery", ["CloudModel", "Storage", "Cryptography", "Identity"]),
        layer("CloudModel", ["JSON"]),
        layer("Audit", ["CloudModel", "Cryptography", "JSON"]),
        layer("Storage", ["CloudModel"]),
        layer("AssetStorage", ["CChecksum", "CloudModel", "Cryptography", "HTTPClient"]),
        layer("SQLiteStorage", ["Storage", "CloudModel", "Files", "SQLite", "Migrations"]),
        layer("CloudDatabase", ["CloudModel", "Storage", "AssetStorage", "Cryptography", "JSON"]),
        layer("Fairness", ["CloudModel", "Network"]),
        layer("Accounts", ["CloudModel", "Storage", "Cryptography", "Identity"]),
        layer(
            "Administration",
            [
                "CloudModel", "Storage", "AssetStorage", "CloudDatabase", "Accounts", "Audit",
                "JSON", "ZIP",
            ]),
        layer("Configuration", ["JSON"]),
        layer(
            "WebServices",
            [
                "CloudModel", "Storage", "AssetStorage", "CloudDatabase", "Accounts",
                "Cryptography", "HTTP", "JSON", "Fairness",
            ]),
        layer(
            "Pages",
            [
                "CloudModel", "Storage", "Accounts", "Cryptography", "HTTP", "JSON", "Fairness",
                "QRCode",
            ]),
        layer(
            "Server",
            [
                "CloudModel", "Storage", "AssetStorage", "HTTPClient", "SQLiteStorage", "SQLite",
                "CloudDatabase", "Accounts", "Administration", "Configuration", "WebServices",
                "HTTP", "Network", "JSON", "Cryptography", "CProcess", "Fairness", "Audit",
                "Pages", "Mail", "Files", "Delivery",
            ]),
        .executableTarget(
            name: "lenticular", dependencies: ["Server", "Configuration"], swiftSettings: strict),
        tests(of: "NetworkTests", ["Network"]),
        tests(of: "FairnessTests", ["Fairness", "CloudModel"]),
        tests(of: "HTTPTests", ["HTTP", "HTTPClient", "Network", "CZlib", "COpenSSL", "Seeding"]),
        tests(of: "HTTPClientTests", ["HTTPClient", "HTTP", "Network", "Seeding"]),
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
        tests(of: "SQLiteTests", ["SQLite", "Files", "CSQLite", "CFaultVFS", "Seeding"]),
        .target(
            name: "StorageConformance", dependencies: ["CloudModel", "Storage"],
            path: "Tests/StorageConformance", swiftSettings: strict),
        tests(
            of: "SQLiteStorageTests",
            ["SQLiteStorage", "SQLite", "Storage", "CloudModel", "StorageConformance"]),
        tests(of: "CryptographyTests", ["Cryptography", "Seeding"]),
        tests(of: "AuditTests", ["Audit", "Seeding"]),
        tests(
            of: "MailTests",
            ["Mail", "Network", "Cryptography", "Seeding", "ChildProcesses"]),
        tests(of: "IdentityTests", ["Identity", "Cryptography", "JSON", "Seeding"]),
        tests(of: "DeliveryTests", ["Delivery", "Identity", "Cryptography"]),
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
                "AssetStorage", "CChecksum", "CloudModel", "Cryptography", "HTTPClient",
                "S3StandIn", "Seeding",
            ]),
        tests(of: "ConfigurationTests", ["Configuration", "Seeding"]),
        tests(
            of: "AccountsTests",
            [
                "Accounts", "SQLiteStorage", "SQLite", "Storage", "CloudModel", "Cryptography",
                "CFaultVFS",
            ]),
        tests(
            of: "PagesTests",
            [
                "Pages", "Accounts", "SQLiteStorage", "Storage", "CloudModel", "Cryptography",
                "HTTP", "Identity", "JSON", "Seeding",
            ]),
        tests(
            of: "CloudDatabaseTests",
            [
                "Delivery", "CloudDatabase", "SQLiteStorage", "SQLite", "Storage", "CloudModel",
                "Cryptography", "JSON", "Seeding",
            ]),
        tests(
            of: "WebServicesTests",
            [
                "WebServices", "CloudDatabase", "Accounts", "AssetStorage", "SQLiteStorage",
                "SQLite", "Storage", "CloudModel", "Cryptography", "HTTP", "JSON", "SharingModel",
                "Seeding", "Fairness",
            ]),
        tests(
            of: "ServerTests",
            [
                "Server", "Configuration", "WebServices", "JSON", "HTTP", "Network", "CloudModel",
                "Cryptography", "Storage", "Accounts", "Administration", "AssetStorage", "SQLite",
                "SQLiteStorage", "SharingModel", "S3StandIn", "Seeding", "HTTPClient",
                "ChildProcesses",
            ], besides: ["Fixtures"]),
        tests(
            of: "RepositoryTests", ["CloudModel", "Configuration", "WebServices", "ChildProcesses"]),
    ],
    swiftLanguageModes: [.v6]
)
