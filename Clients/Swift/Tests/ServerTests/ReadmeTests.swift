import XCTest

#if os(Linux)
    /// What the README tells people to do, done as it is printed.
    final class ReadmeTests: XCTestCase {
        private let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("readme-\(UUID().uuidString)")

        override func tearDown() { try? FileManager.default.removeItem(at: folder) }

        /// The first block of code in a language after some words.
        private func block(_ language: String, after words: String) throws -> String {
            let file = BuiltPackage.sources.appendingPathComponent("README.md")
            let text = try String(contentsOf: file, encoding: .utf8)
            let place = try XCTUnwrap(text.range(of: words)).upperBound
            let begin = try XCTUnwrap(
                text.range(of: "```\(language)\n", range: place..<text.endIndex)
            ).upperBound
            let end = try XCTUnwrap(text.range(of: "```", range: begin..<text.endIndex)).lowerBound
            return String(text[begin..<end])
        }

        func testTheFirstProgramRunsAsItIsPrinted() throws {
            let server = try ReleaseServer()
            let built = try BuiltPackage()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let service = try server.entry(of: "ann@example.org")
            let script = try block("sh", after: "## From zero")
                .replacingOccurrences(of: "http://127.0.0.1:8080", with: service["url"] ?? "")
                .replacingOccurrences(
                    of: #""apiToken": "…""#, with: #""apiToken": "\#(service["apiToken"] ?? "")""#
                )
                .replacingOccurrences(
                    of: #""webAuthToken": "…""#,
                    with: #""webAuthToken": "\#(service["webAuthToken"] ?? "")""#
                )
                .replacingOccurrences(of: "iCloud.dev.lenticular.Notes", with: server.container)
            XCTAssertFalse(script.contains("…"), "something is left to fill in")
            let program = try block("swift", after: "as its `main.swift`")
            XCTAssertLessThanOrEqual(program.split(separator: "\n").count, 20)
            try program.write(
                to: folder.appendingPathComponent("main.swift"), atomically: true, encoding: .utf8)
            let modules = [
                "LenticularCloudKit", "CloudKitTransport", "CloudKitStore", "CloudKitWire",
            ]
            let compiled = try RunningProgram.run(
                ["swiftc", "-swift-version", "6", "-o", "notes", "main.swift", "-lsqlite3"]
                    + ["-lcrypto"] + built.moduleArguments + built.objects(of: modules), in: folder)
            XCTAssertEqual(compiled.status, 0, compiled.output)
            XCTAssertFalse(compiled.output.contains("warning"), compiled.output)
            let ran = try RunningProgram.run(
                ["bash", "-euc", script + "./notes"], in: folder,
                environment: ["HOME": folder.path])
            XCTAssertEqual(ran.output, "Tea\n")
            XCTAssertEqual(ran.status, 0)
        }
    }
#endif
