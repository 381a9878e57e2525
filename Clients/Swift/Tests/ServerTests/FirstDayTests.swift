import LenticularCloudKit
import XCTest

#if os(Linux)
    /// What the server's console gives to paste for Swift, compiled and run as it stands.
    final class FirstDayTests: XCTestCase {
        private let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("first-day-\(UUID().uuidString)")

        override func tearDown() { try? FileManager.default.removeItem(at: folder) }

        /// The code for a server, as the console's own script writes it.
        private func code(for server: ReleaseServer) throws -> String {
            let script = BuiltPackage.sources.appendingPathComponent("../../Console/snippets.js")
            guard FileManager.default.fileExists(atPath: script.path) else {
                throw XCTSkip("the client lies here without its server")
            }
            let place = try JSONSerialization.data(withJSONObject: [
                "server": server.url.absoluteString, "container": server.container,
                "environment": "development", "token": server.apiToken, "client": "/cloudkit.js",
            ])
            let ran = try RunningProgram.run([
                "node", "--no-warnings", "--input-type=module", "-e",
                """
                import {readFileSync} from 'node:fs';
                const text = readFileSync(process.argv[1], 'utf8');
                const {languages} = await import(`data:text/javascript,${encodeURIComponent(text)}`);
                const all = languages(JSON.parse(process.argv[2]));
                process.stdout.write(all.find(({name}) => name === 'Swift').text);
                """, script.standardizedFileURL.path, String(decoding: place, as: UTF8.self),
            ])
            guard ran.status != 127 else { throw XCTSkip("no node to run the console's script") }
            XCTAssertEqual(ran.status, 0, ran.output)
            return ran.output
        }

        func testTheCodeThatTheConsoleGivesSavesAFirstNote() async throws {
            let server = try ReleaseServer()
            let built = try BuiltPackage()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let token = try server.entry(of: "ann@example.org")["webAuthToken"] ?? ""
            // The part that is the app's own: what somebody's browser comes back with.
            let browser = """
                import Foundation
                func tokenFromBrowser(at page: URL) async throws -> String {
                    guard page.absoluteString.hasPrefix("\(server.url.absoluteString)/") else {
                        throw CocoaError(.fileReadUnknown)
                    }
                    return "\(token)"
                }
                """
            for (name, text) in ["main": try code(for: server), "Browser": browser] {
                try text.write(
                    to: folder.appendingPathComponent("\(name).swift"), atomically: true,
                    encoding: .utf8)
            }
            let modules = [
                "LenticularCloudKit", "CloudKitTransport", "CloudKitStore", "CloudKitWire",
            ]
            let compiled = try RunningProgram.run(
                ["swiftc", "-swift-version", "6", "-o", "notes", "main.swift", "Browser.swift"]
                    + ["-lsqlite3", "-lcrypto"] + built.moduleArguments
                    + built.objects(of: modules), in: folder)
            XCTAssertEqual(compiled.status, 0, compiled.output)
            XCTAssertFalse(compiled.output.contains("warning"), compiled.output)
            let ran = try RunningProgram.run(
                ["./notes"], in: folder, environment: ["HOME": folder.path])
            XCTAssertEqual(ran.status, 0, ran.output)
            let query = CKQuery(
                recordType: "Note", predicate: NSPredicate(format: "title == %@", "Hello"))
            let (saved, _) = try await server.container(of: "ann@example.org").privateCloudDatabase
                .records(matching: query)
            XCTAssertEqual(saved.count, 1)
            _ = try saved.map { try $0.1.get() }
        }
    }
#endif
