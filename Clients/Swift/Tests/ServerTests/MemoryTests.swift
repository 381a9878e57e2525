import XCTest

#if os(Linux)
    /// What large files cost in memory, in a process of its own, whose peak nothing else has raised.
    final class MemoryTests: XCTestCase {
        private static let moreBytesMax = 16_000_000.0

        func testAHundredMegabytesGoUpAndDownWithinSixteen() throws {
            let server = try ReleaseServer(
                settings: ["LENTICULAR_ASSETS_BYTES_MAX": "200000000"])
            let service = try server.serviceFile(of: "ann@example.org")
            let home = FileManager.default.temporaryDirectory
                .appendingPathComponent("memory-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: home) }
            let done = try RunningProgram.run(
                [try BuiltPackage().program("client-speed"), "files", "100"],
                environment: ["LENTICULAR_SERVICE_FILE": service.path, "HOME": home.path])
            XCTAssertEqual(done.status, 0, done.output)
            let figures = try JSONDecoder().decode(
                [String: Double].self, from: Data(done.output.utf8))
            let more = try XCTUnwrap(figures["moreBytes"])
            XCTAssertLessThanOrEqual(more, Self.moreBytesMax, done.output)
        }
    }
#endif
