import Testing

@Suite("Sizes that a reader can hold")
struct SizeTests {
    @Test("No source file is over 500 lines, no test file over 800")
    func files() {
        // But for SQL: one file has all tables of a database.
        for path in Repository.files(endingIn: [".swift", ".c", ".h", ".py", ".sh"]) {
            let limit = path.hasPrefix("Tests/") ? 800 : 500
            let count = Repository.lines(path).count
            #expect(count <= limit, "\(path) has \(count) lines")
        }
    }

    @Test("No function is over 60 lines")
    func functions() {
        for (path, source) in Repository.swiftSources {
            for function in source.functions {
                #expect(
                    function.lineCount <= 60,
                    "\(path):\(function.line) is a function of \(function.lineCount) lines")
            }
        }
    }

    @Test("README stays under 120 lines")
    func readme() {
        let count = Repository.lines("README.md").count
        #expect((2..<120).contains(count), "README.md has \(count) lines")
    }
}
