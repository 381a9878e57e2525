/// How far a command has come, drawn for a terminal.
enum ProgressBar {
    private static let width = 30

    /// A line of progress with a bar in front, where it begins with a share such as `42 %`.
    static func drawn(_ line: String) -> String {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[1] == "%", let share = Int(words[0]),
            (0...100).contains(share)
        else { return line }
        let full = share * width / 100
        return "[\(String(repeating: "#", count: full))"
            + "\(String(repeating: "·", count: width - full))] \(line)"
    }
}
