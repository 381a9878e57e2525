import XCTest

#if os(Linux)
    /// Packages that use this one, and others that stand beside it in the same build.
    final class DependentPackageTests: XCTestCase {
        private let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("dependent-\(UUID().uuidString)")

        override func tearDown() { try? FileManager.default.removeItem(at: folder) }

        private func write(_ text: String, to path: String) throws {
            let file = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }

        private func build(_ target: String) throws {
            let done = try RunningProgram.run(
                ["swift", "build", "--disable-sandbox", "--target", target], in: folder,
                seconds: 1_200)
            XCTAssertEqual(done.status, 0, "\(target): \(done.output)")
        }

        /// An app with the product and a database library of its own, beside a package that uses neither.
        ///
        /// - Parameter isFirst: whether the product is named before the database library.
        private func writeManifest(isFirst: Bool) throws {
            let packages = [
                ".package(path: \"\(BuiltPackage.sources.path)\")", ".package(path: \"Database\")",
            ]
            let products = [
                ".product(name: \"CloudKit\", package: \"Swift\")",
                ".product(name: \"Database\", package: \"Database\")",
            ]
            let order: ([String]) -> String = {
                (isFirst ? $0 : $0.reversed()).joined(separator: ", ")
            }
            try write(
                """
                // swift-tools-version: 6.0
                import PackageDescription

                let package = Package(
                    name: "notes", platforms: [.macOS(.v13)],
                    dependencies: [\(order(packages)), .package(path: "Dump")],
                    targets: [
                        .target(
                            name: "Notes",
                            dependencies: [
                                \(order(products)), .product(name: "Dump", package: "Dump"),
                            ])
                    ])
                """, to: "Package.swift")
        }

        private func writePackages() throws {
            try write(
                """
                // swift-tools-version: 6.0
                import PackageDescription

                let package = Package(
                    name: "Dump", products: [.`library`(name: "Dump", targets: ["Dump"])],
                    targets: [.target(name: "Dump")])
                """, to: "Dump/Package.swift")
            try writeDump("")
            try write(
                """
                // swift-tools-version: 6.0
                import PackageDescription

                let package = Package(
                    name: "Database", products: [.`library`(name: "Database", targets: ["Database"])],
                    targets: [
                        .systemLibrary(name: "CSQLite"), .systemLibrary(name: "COpenSSL"),
                        .target(name: "Database", dependencies: ["CSQLite", "COpenSSL"]),
                    ])
                """, to: "Database/Package.swift")
            for (name, header) in [("CSQLite", "sqlite3.h"), ("COpenSSL", "openssl/evp.h")] {
                try write(
                    "module \(name) [system] { header \"shim.h\" export * }",
                    to: "Database/Sources/\(name)/module.modulemap")
                try write("#include <\(header)>", to: "Database/Sources/\(name)/shim.h")
            }
            try write(
                """
                import COpenSSL
                import CSQLite

                public func version() -> Int32 { sqlite3_libversion_number() + EVP_MAX_MD_SIZE }
                """, to: "Database/Sources/Database/Database.swift")
            try write(
                """
                import CloudKit
                import Database
                import Dump

                func note() -> CKRecord {
                    let record = CKRecord(recordType: "Note")
                    record["version"] = version()
                    record["place"] = CLLocation(latitude: 1, longitude: 2)
                    return record
                }
                """, to: "Sources/Notes/Notes.swift")
        }

        /// A library that looks what is there, as some do, and knows more of it than there is.
        private func writeDump(_ comment: String) throws {
            try write(
                """
                \(comment)
                #if canImport(CoreLocation)
                    import CoreLocation

                    extension CLAuthorizationStatus {
                        public var dumped: String { "status" }
                    }
                    extension CLFloor {
                        public var dumped: String { "floor" }
                    }
                #endif
                #if canImport(CloudKit)
                    import CloudKit

                    extension CKRecord {
                        public var dumped: String { recordType }
                    }
                #endif
                #if canImport(LenticularCloudKit)
                    import LenticularCloudKit
                #endif

                public let dump = 1
                """, to: "Dump/Sources/Dump/Dump.swift")
        }

        func testPackagesBesideTheProductBuildBeforeAndAfterItInBothOrders() throws {
            try writePackages()
            try writeManifest(isFirst: true)
            try build("Dump")
            try build("Notes")
            try writeDump("// Built anew, where the modules of the others are there.")
            try writeManifest(isFirst: false)
            try build("Dump")
            try build("Notes")
            let modules = folder.appendingPathComponent(".build/debug/Modules")
            let names = try FileManager.default.contentsOfDirectory(atPath: modules.path)
            XCTAssertTrue(names.contains("CloudKit.swiftmodule"), "\(names)")
            XCTAssertFalse(names.contains("CoreLocation.swiftmodule"), "\(names)")
        }
    }
#endif
