/// The text that `--help` prints at any level.
package struct CommandHelp: Sendable {
    private let commands: [Command]

    package init(commands: [Command]) { self.commands = commands }

    /// Help for the command or group that the words name; for the program when there are none.
    package func text(for words: [String]) -> String {
        if let command = commands.first(where: { $0.words == words }) { return text(for: command) }
        let within = commands.filter { $0.words.starts(with: words) }
        var lines = ["usage: \((["lenticular"] + words).joined(separator: " ")) COMMAND …", ""]
        let width = within.map { synopsis(of: $0).count }.max() ?? 0
        for command in within {
            // Long forms get a line of their own, so that the summaries stay in one column.
            let form = synopsis(of: command)
            if width > 48, form.count > 44 {
                lines += ["  \(form)", "  \(padded("", 46))\(command.summary)"]
            } else {
                lines.append("  \(padded(form, 46))\(command.summary)")
            }
        }
        lines += ["", "lenticular help COMMAND tells more of each."]
        return lines.joined(separator: "\n")
    }

    private func text(for command: Command) -> String {
        var lines = ["usage: lenticular \(synopsis(of: command))", "", command.summary, ""]
        let rows =
            command.positionals.map { ($0.name, $0.summary) }
            + command.options.map { option in
                (
                    option.value.map { "--\(option.name) \($0)" } ?? "--\(option.name)",
                    option.summary
                )
            }
        let width = (rows.map(\.0.count).max() ?? 0) + 2
        for (name, summary) in rows { lines.append("  \(padded(name, width))\(summary)") }
        return lines.joined(separator: "\n")
    }

    /// The command's words, places and options in one line.
    func synopsis(of command: Command) -> String {
        var parts = [command.name]
        for positional in command.positionals {
            switch positional.arity {
            case .one: parts.append(positional.name)
            case .optional: parts.append("[\(positional.name)]")
            case .many: parts.append("\(positional.name)…")
            }
        }
        let common = Set(CommandOption.common.map(\.name))
        for option in command.options where !common.contains(option.name) {
            let form = option.value.map { "--\(option.name) \($0)" } ?? "--\(option.name)"
            let bracketed = option.isRequired ? form : "[\(form)]"
            parts.append(option.isRepeatable ? "\(bracketed)…" : bracketed)
        }
        return parts.joined(separator: " ")
    }
}

private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
}
