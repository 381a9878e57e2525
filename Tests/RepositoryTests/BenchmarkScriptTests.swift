import ChildProcesses
import Foundation
import Testing

/// `Benchmarks/benchmark.py` on machines that lack something, as far as it gets without a server.
@Suite("The script that measures")
struct BenchmarkScriptTests {
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "benchmark-script-\(UUID())")

    /// Runs a line of the shell in the folder of the benchmarks.
    private func run(_ line: String) throws -> (text: String, status: Int32) {
        let process = ChildProcess()
        process.arguments = ["bash", "-c", line]
        process.currentDirectoryURL = Repository.root.appending(path: "Benchmarks")
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.readToEnd(), as: UTF8.self)
        process.waitUntilExit()
        return (text, process.terminationStatus)
    }

    @Test("It says which programs a part needs that are not here, before it begins")
    func programs() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // A compiler is here, and nothing else.
        let compiler = folder.appending(path: "cc").path
        try FileManager.default.createSymbolicLink(
            atPath: compiler, withDestinationPath: "/bin/true")
        let found = try run(
            "python=$(python3 -c 'import sys; print(sys.executable)'); export PATH='\(folder.path)'; "
                + "$python benchmark.py --only assets --binary '\(compiler)'")
        #expect(found.text.contains("assets: left out, for it needs"), "\(found.text)")
        #expect(found.text.contains("wrk (apt-get install wrk)"), "\(found.text)")
        #expect(found.text.hasSuffix("benchmark: nothing is left to be measured\n"))
        #expect(found.status == 1)
    }

    @Test("It takes as many idle connections as the limit on open files has room for, and says so")
    func openFiles() throws {
        let found = try run(
            "ulimit -n 1000 && python3 -c 'import requirements as r; "
                + "print(r.idle_connections(20000), r.idle_connections(10))'")
        #expect(
            found.text
                == "750 idle connections in place of 20,000: the limit on open files is 1,000 "
                + "(ulimit -n)\n750 10\n")
    }

    @Test("Each part's figures are kept when it has them, and one that fails ends alone")
    func parts() throws {
        let found = try run(
            """
            python3 - <<'END'
            import pathlib, sys, tempfile
            import benchmark
            def fails(): raise RuntimeError("connection 5889 was not answered")
            benchmark.parts = lambda *_: {
                "first": lambda: {"a": 1}, "second": fails, "third": lambda: {"b": 2}}
            kept = []
            with tempfile.TemporaryDirectory() as folder:
                failed = benchmark.one_run(
                    None, None, None, pathlib.Path(folder), 1,
                    lambda figures: kept.append(sorted(set(figures) & {"a", "b"})))
            print(failed, kept)
            END
            """)
        #expect(
            found.text.hasSuffix("['second'] [['a'], ['a'], ['a', 'b']]\n"), "\(found.text)")
    }
}
