/// What stands in a page: its blocks of code, and what it names between backticks.
enum PageText {
    struct Block {
        /// What stands behind the three backticks, such as `sh`.
        let kind: String
        let lines: [String]
    }

    static func blocks(of page: String) -> [Block] {
        var blocks: [Block] = []
        var open: (kind: String, lines: [String])?
        for line in Repository.lines(page) {
            guard line.hasPrefix("```") else {
                open?.lines.append(line)
                continue
            }
            if let (kind, lines) = open {
                blocks.append(Block(kind: kind, lines: lines))
                open = nil
            } else {
                open = (String(line.dropFirst(3)), [])
            }
        }
        return blocks
    }

    /// What stands between backticks outside of blocks.
    static func names(in page: String) -> [String] {
        var isInside = false
        return Repository.lines(page).flatMap { line -> [String] in
            if line.hasPrefix("```") { isInside.toggle() }
            guard !isInside, !line.hasPrefix("```") else { return [] }
            return line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        }
    }
}
