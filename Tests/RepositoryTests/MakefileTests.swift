import ChildProcesses
import Foundation
import Testing

@Suite("The commands of a developer's day")
struct MakefileTests {
    @Test("Without a toolchain each that needs it says where that is from")
    func toolchain() throws {
        for target in ["toolchain", "lint", "unit", "release"] {
            let process = ChildProcess()
            process.arguments = [
                "bash", "-c", "make=$(command -v make); PATH=/nowhere \"$make\" --silent \(target)",
            ]
            process.currentDirectoryURL = Repository.root
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            try process.run()
            let text = String(decoding: output.readToEnd(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus != 0)
            #expect(text.contains("swift is missing"), "\(text)")
            #expect(text.contains("https://www.swift.org/install/"), "\(text)")
        }
    }
}
