import CloudModel
import Testing

@testable import WebServices

@Suite("What is observed of a request")
struct ObservedWorkTests {
    @Test("The app is told by what clients send, bounded and of plain characters")
    func software() {
        let cases: [(String, String?, ClientSoftware.Kind, String, String)] = [
            ("Notes/12 CFNetwork/1408.0.4 Darwin/22.5.0", nil, .apple, "Notes", "12"),
            ("notes (unknown version) curl/8.5.0", nil, .swift, "notes", ""),
            ("curl/8.5.0", nil, .tool, "curl", "8.5.0"),
            ("", nil, .unknown, "", ""),
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
                    + "Chrome/131.0.0.0 Safari/537.36", nil, .browser, "Chrome", "131"
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0) Version/17.0 Safari/604.1", "0.1.0",
                .web, "Safari", "0.1.0"
            ),
            ("a\"b\\\u{7f}\u{1f}é/\"1\u{1f}2", nil, .tool, "ab", "1"),
        ]
        for (agent, script, kind, name, version) in cases {
            let found = ClientSoftware(agent: agent, scriptVersion: script)
            #expect(
                found.kind == kind && found.name == name && found.version == version, "\(found)")
        }
        let long = ClientSoftware(agent: String(repeating: "x", count: 10_000) + "/1")
        #expect(long.name.utf8.count == 32)
    }

    @Test("Items that failed are counted by code and reason, with hashes of the first names")
    func failures() {
        var work = RequestWork()
        for number in 0..<10 { work.note(Fault(.conflict, "old"), record: "r\(number)") }
        work.note(Fault.changeTokenExpired("gone"))
        #expect(work.failures.map(\.count) == [10, 1])
        #expect(work.failures.map(\.reason) == [nil, "syncTokenExpired"])
        #expect(
            work.failures[0].records == (0..<4).map { ItemFailures.hash("r\($0)") })
    }
}
