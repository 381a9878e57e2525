/// The manual page of the program in the form of man(7), made from the declarations of commands.
struct CommandManual {
    let commands: [Command]

    /// - Parameter version: what the page is of.
    func page(version: String) -> String {
        let help = CommandHelp(commands: commands)
        let common = Set(CommandOption.common.map(\.name))
        var lines = [
            ".TH LENTICULAR 1 \"\" \"lenticular \(version)\"", ".SH NAME",
            "lenticular \\- sync server that speaks CloudKit Web Services", ".SH SYNOPSIS",
            ".B lenticular", ".I COMMAND", "[...]", ".SH DESCRIPTION",
            escaped(
                "`lenticular serve` runs the server; every other command acts on its data folder, also while "
                    + "it runs. Exit status: 0 for success, 1 for an error, 2 for wrong usage."),
            ".SH OPTIONS OF EVERY COMMAND",
        ]
        lines += CommandOption.common.flatMap(option)
        lines.append(".SH COMMANDS")
        for command in commands {
            lines += [".SS \(escaped(help.synopsis(of: command)))", escaped(command.summary + ".")]
            for positional in command.positionals {
                lines += [".TP", ".I \(escaped(positional.name))", escaped(positional.summary)]
            }
            lines += command.options.filter { !common.contains($0.name) }.flatMap(option)
        }
        lines += [
            ".SH FILES", ".TP", ".I /etc/lenticular/lenticular.json5",
            "the settings where a package or the system runs the server; `lenticular config reference` prints all",
            ".TP", ".I /var/lib/lenticular", "the data folder there", ".SH SEE ALSO",
            "The pages below docs/operating of the project.",
        ]
        return lines.joined(separator: "\n")
    }

    private func option(_ option: CommandOption) -> [String] {
        [
            ".TP", ".B \(escaped("--\(option.name)" + (option.value.map { " \($0)" } ?? "")))",
            escaped(option.summary),
        ]
    }

    /// A line of text: what roff would take for its own stands for itself.
    private func escaped(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
            .replacing("…", with: "...")
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }
}
