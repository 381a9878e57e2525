extension Connection {
    /// What is wrong with the file, found by reading all of it; empty when nothing is.
    ///
    /// - Parameter linesMax: where the list ends.
    /// - Throws: `SQLiteError` when the file is too broken to be read.
    package func integrityCheck(linesMax: Int = 100) throws -> [String] {
        let check = try prepare("PRAGMA integrity_check(\(linesMax))")
        defer { check.reset() }
        var lines: [String] = []
        while try check.step() { lines.append(check.string(0)) }
        return lines == ["ok"] ? [] : lines
    }
}
