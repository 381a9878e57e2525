import Foundation
import XCTest

/// What was built beside the tests, wherever that is.
struct BuiltPackage {
    /// The folder with programs, objects and modules.
    let products: URL
    /// The package's sources.
    static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private final class Anchor {}

    /// - Throws: `XCTSkip` where nothing is found: another build system has other folders.
    init() throws {
        let bundle = Bundle(for: Anchor.self).bundleURL
        let places = [bundle, bundle.deletingLastPathComponent()]
        guard
            let found = places.first(where: {
                FileManager.default.fileExists(atPath: $0.appendingPathComponent("Modules").path)
            })
        else { throw XCTSkip("no folder with modules beside the tests") }
        products = found
    }

    /// A program of the package.
    func program(_ name: String) throws -> String {
        let place = products.appendingPathComponent(name).path
        return try XCTUnwrap(FileManager.default.isExecutableFile(atPath: place) ? place : nil)
    }

    /// What a compiler needs to find the modules.
    var moduleArguments: [String] {
        [products.appendingPathComponent("Modules").path]
            .flatMap { ["-I", $0] }
    }

    /// The objects of modules.
    func objects(of modules: [String]) throws -> [String] {
        try modules.flatMap { module in
            let folder = products.appendingPathComponent("\(module).build").path
            return try FileManager.default.contentsOfDirectory(atPath: folder)
                .filter { $0.hasSuffix(".o") }.map { "\(folder)/\($0)" }
        }
    }
}
