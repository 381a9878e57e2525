import XCTest

#if os(Linux)
    /// The names that apps expect, and what is said of them.
    final class SymbolsTests: XCTestCase {
        func testEveryNativeNameIsThereOrSaysWhyItIsNot() throws {
            let names = try SymbolGraph(of: "LenticularCloudKit").names
            let file = BuiltPackage.sources.appendingPathComponent("symbols.txt")
            let text = try String(contentsOf: file, encoding: .utf8)
            var expected: Set<String> = []
            var missing = 0
            for line in text.split(separator: "\n").map(String.init) where !line.hasPrefix("#") {
                if line.hasPrefix("- ") {
                    let parts = line.dropFirst(2).components(separatedBy: ": ")
                    let name = line.dropFirst(2).components(separatedBy: ": ")[0]
                    XCTAssertGreaterThan(parts.count, 1, "\(line): expected a reason")
                    XCTAssertFalse(names.contains(name), "\(name) is there: say so")
                    missing += 1
                } else {
                    XCTAssertTrue(expected.insert(line).inserted, "\(line) is listed twice")
                    XCTAssertTrue(names.contains(line), "\(line) is missing")
                }
            }
            print("\(expected.count) names are there, \(missing) are missing with a reason")
            XCTAssertGreaterThan(expected.count, 700)
        }

        func testEveryPublicNameSaysWhatItIsAndWhatItThrows() throws {
            for module in ["LenticularCloudKit", "CloudKitTesting"] {
                for symbol in try SymbolGraph(of: module).symbols {
                    XCTAssertFalse(symbol.comment.isEmpty, "\(symbol.name): expected a comment")
                    let isThrowing =
                        symbol.declaration.contains(" throws")
                        && !symbol.declaration.contains("rethrows")
                    if isThrowing {
                        XCTAssertTrue(
                            symbol.comment.contains("hrows"), "\(symbol.name): what does it throw?")
                    }
                }
            }
        }
    }
#endif
