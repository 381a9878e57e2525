import ChildProcesses
import Foundation
import Testing

/// `Tests/unit` and `Tests/client` with a `swift` of their own, in a folder of its own.
@Suite("The scripts that run the tests")
struct UnitScriptTests {
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "unit-script-\(UUID())")

    /// What the script says, and its status.
    ///
    /// - Parameter tests: what `swift test` is, in the shell's language; `$folder` is its folder.
    private func run(
        _ script: String = "unit", build: String = "true", tests: String, silentSeconds: Int = 60
    ) throws -> (text: String, status: Int32) {
        let files = FileManager.default
        try files.createDirectory(
            at: folder.appending(path: "Tests"), withIntermediateDirectories: true)
        for name in [script, "unit-crash"] {
            try files.copyItem(
                at: Repository.root.appending(path: "Tests/\(name)"),
                to: folder.appending(path: "Tests/\(name)"))
        }
        let swift = folder.appending(path: "swift")
        try """
        #!/usr/bin/env bash
        folder='\(folder.path)'
        if [ "$1" = build ]; then \(build); exit; fi
        \(tests)
        """.write(to: swift, atomically: true, encoding: .utf8)
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: swift.path)
        let process = ChildProcess()
        process.executableURL = folder.appending(path: "Tests/\(script)")
        process.environment = ProcessInfo.processInfo.environment.merging([
            "PATH": "\(folder.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")",
            "LENTICULAR_PYTHON": "python3", "LENTICULAR_BINARY": "/bin/true",
            "LENTICULAR_UNIT_SILENT_SECONDS": "\(silentSeconds)",
        ]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.readToEnd(), as: UTF8.self)
        process.waitUntilExit()
        return (text, process.terminationStatus)
    }

    private func isRunning(_ name: String) throws -> Bool {
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        let process = ChildProcess()
        process.arguments = [
            "ps", "-o", "stat=", "-p", text.trimmingCharacters(in: .whitespacesAndNewlines),
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let state = String(decoding: output.readToEnd(), as: UTF8.self)
        process.waitUntilExit()
        // Who has ended stays in the list until whoever is the system's first process has noticed.
        return !state.isEmpty && !state.hasPrefix("Z")
    }

    @Test("Tests that stand still are named and ended, with all that they have started")
    func standingStill() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let found = try run(
            tests: """
                echo '◇ Test "A thing that ends" started.'
                echo '◇ Test "A thing that waits" started.'
                echo '✔ Test "A thing that ends" passed after 0.001 seconds.'
                set -m
                sleep 1000 &
                echo $! >"$folder/left"
                wait
                """, silentSeconds: 5)
        #expect(found.status != 0)
        #expect(found.text.contains("\nTest \"A thing that waits\""), "\(found.text)")
        #expect(!found.text.contains("\nTest \"A thing that ends\""), "\(found.text)")
        #expect(try !isRunning("left"), "what a test has started is still there")
        // Of the machine's processes it names those of the tests.
        #expect(found.text.contains("sleep 1000"), "\(found.text)")
        #expect(!found.text.contains(CommandLine.arguments[0]), "\(found.text)")
    }

    @Test("Neither the build nor all tests together are ended for the time that they take")
    func slow() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let found = try run(
            build: "sleep 9",
            tests: """
                for number in 1 2 3 4 5 6; do
                    echo "◇ Test $number started."
                    sleep 2
                    echo "✔ Test $number passed after 2 seconds."
                done
                sleep 1000 &
                echo $! >"$folder/left"
                echo '✔ Test run with 6 tests passed after 12 seconds.'
                """, silentSeconds: 8)
        #expect(found.status == 0 && found.text.contains("Test run with 6 tests"), "\(found.text)")
        #expect(try !isRunning("left"), "what a test has started is still there")
    }

    @Test("The end of the client's run says which tests failed and what they expected")
    func endOfClient() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let found = try run(
            "client",
            tests: """
                echo "Test Case 'TeaTests.testTea' started at 2026-01-01"
                echo '/a/TeaTests.swift:7: error: TeaTests.testTea : XCTAssertEqual failed: "1" is not "2"'
                echo "Test Case 'TeaTests.testTea' failed (0.1 seconds)"
                for number in $(seq 99); do
                    echo "Test Case 'CupTests.test$number' started at 2026-01-01"
                    echo "Test Case 'CupTests.test$number' passed (0.1 seconds)"
                done
                echo ' Executed 100 tests, with 1 failure (0 unexpected) in 9 (9) seconds'
                echo '✔ Test run with 0 tests in 0 suites passed after 0.001 seconds.'
                exit 1
                """)
        #expect(found.status == 1)
        let end = found.text.split(separator: "\n").suffix(3)
        #expect(
            end == [
                " Executed 100 tests, with 1 failure (0 unexpected) in 9 (9) seconds",
                "what failed (status 1):",
                "/a/TeaTests.swift:7: error: TeaTests.testTea : XCTAssertEqual failed: \"1\" is not \"2\"",
            ], "\(found.text)")
    }

    @Test("A run of the client that breaks off names the test that it was in")
    func brokenOffClient() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let found = try run(
            "client",
            tests: """
                echo "Test Case 'CupTests.testCup' started at 2026-01-01"
                echo "Test Case 'CupTests.testCup' passed (0.1 seconds)"
                echo "Test Case 'TeaTests.testTea' started at 2026-01-01"
                echo 'Cup.swift:9: Fatal error: broken'
                exit 1
                """)
        #expect(found.status == 1)
        let end = found.text.split(separator: "\n").suffix(3)
        #expect(
            end == [
                "what failed (status 1):", "Cup.swift:9: Fatal error: broken",
                "broke off in: Test Case 'TeaTests.testTea' started at 2026-01-01",
            ], "\(found.text)")
    }
}
