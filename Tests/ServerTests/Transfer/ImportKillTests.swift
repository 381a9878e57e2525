import ChildProcesses
import Foundation
import Testing

@testable import Server

@Suite("Imports into a server that is killed")
struct ImportKillTests {
    private static let count = 6_000

    @Test("An import goes on after the server was killed, with nothing twice and nothing lost")
    func killed() throws {
        let home = try RestoreHome()
        // Longer than what is taken in at once.
        let text = String(repeating: "x", count: 3_000)
        let file = home.folder.path("notes.jsonl")
        try (0..<Self.count).map { number in
            #"{"recordName":"n\#(number)","recordType":"Note","zoneID":{"zoneName":"Notes"},"#
                + #""fields":{"text":{"value":"\#(text)"},"number":{"value":\#(number)}}}"# + "\n"
        }.joined().write(toFile: file, atomically: true, encoding: .utf8)
        let words = ["import"] + RestoreHome.location + [file, "--user", RestoreHome.ann]
        let child = ChildProcess()
        child.executableURL = Program.url
        child.arguments = words + ["--data", home.server.data]
        child.environment = try Program.cleanEnvironment.merging(
            DataEnvironment.of(home.server.data)
        ) { $1 }
        child.standardOutput = Pipe()
        child.standardError = Pipe()
        try child.run()
        // Killed once there are records, or at the end where that came first.
        let list = ["record", "list"] + RestoreHome.location + ["private", "--zone", "Notes"]
        while child.isRunning {
            let page = try home.run(list + ["--user", RestoreHome.ann, "--json"])
            if (page.object["records"] as? [Any])?.isEmpty == false { break }
        }
        let isWhole = !child.isRunning
        try home.killAndStart()
        child.waitUntilExit()
        if !isWhole, child.terminationStatus != 0 {
            let again = try home.done(words)
            #expect(again["failed"] as? Int == 0, "\(again)")
            #expect(again["continued"] as? Bool == true, "\(again)")
        }
        let contents = try home.contents(of: RestoreHome.ann)
        #expect(contents.count == Self.count)
        let numbers = Set((0..<Self.count).map { "Notes/n\($0)" })
        #expect(Set(contents.keys) == numbers)
        #expect(try home.run(["check"]).status == 0)
    }
}
