import Control

/// Turns arguments into an invocation of one command, or into the help that was asked for.
package struct CommandLineParser: Sendable {
    package enum Parsed: Sendable {
        case invocation(Invocation)
        /// `--help` after these words, which name a command, a group or nothing.
        case help([String])
    }

    private let commands: [Command]

    package init(commands: [Command]) { self.commands = commands }

    /// Reads arguments, without the program's own name.
    ///
    /// Options may stand anywhere after the command's words, as `--name value` or `--name=value`;
    /// after `--` everything is taken by its place.
    ///
    /// - Throws: `UsageFailure` that names the argument and what was expected.
    package func parse(_ arguments: [String]) throws(UsageFailure) -> Parsed {
        if arguments == ["--version"] { return try parse(["version"]) }
        if arguments.first == "help" {
            return try parse(arguments.dropFirst().filter { !isHelp($0) } + ["--help"])
        }
        let (words, rest) = leadingWords(of: arguments)
        guard let command = commands.first(where: { $0.words == words }) else {
            if isHelp(rest.first), hasCommands(under: words) { return .help(words) }
            throw unknown(words, rest)
        }
        var invocation = Invocation(command: command)
        var loose: [String] = []
        var index = 0
        while index < rest.count {
            let argument = rest[index]
            index += 1
            if argument == "--" {
                loose += rest[index...]
                break
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                loose.append(argument)
                continue
            }
            if isHelp(argument) { return .help(words) }
            try take(option: argument, of: &invocation, from: rest, at: &index)
        }
        try place(loose, into: &invocation)
        for option in command.options where option.isRequired && !invocation.has(option.name) {
            throw failure(command, "--\(option.name) is missing")
        }
        return .invocation(invocation)
    }

    /// The words that go on naming a command or group, as long as they do.
    private func leadingWords(of arguments: [String]) -> (words: [String], rest: [String]) {
        var words: [String] = []
        for argument in arguments {
            guard hasCommands(under: words + [argument]) else { break }
            words.append(argument)
        }
        return (words, Array(arguments.dropFirst(words.count)))
    }

    private func hasCommands(under words: [String]) -> Bool {
        commands.contains { $0.words.starts(with: words) }
    }

    private func unknown(_ words: [String], _ rest: [String]) -> UsageFailure {
        let known = (["lenticular"] + words).joined(separator: " ")
        guard let first = rest.first else {
            return UsageFailure("\(known): a command is missing; see \(known) --help")
        }
        return UsageFailure("\(known): there is no \(quoted(first)) here; see \(known) --help")
    }

    private func take(
        option argument: String, of invocation: inout Invocation, from rest: [String],
        at index: inout Int
    ) throws(UsageFailure) {
        let command = invocation.command
        let halves = argument.split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = halves[0].hasPrefix("--") ? String(halves[0].dropFirst(2)) : ""
        guard let option = command.options.first(where: { $0.name == name }) else {
            throw failure(command, "there is no option \(quoted(String(halves[0])))")
        }
        if invocation.has(name), !option.isRepeatable {
            throw failure(command, "--\(name) is given twice")
        }
        guard let placeholder = option.value else {
            if halves.count > 1 { throw failure(command, "--\(name) takes no value") }
            invocation.append("", toOption: name)
            return
        }
        if halves.count > 1 {
            invocation.append(String(halves[1]), toOption: name)
        } else if index < rest.count {
            invocation.append(rest[index], toOption: name)
            index += 1
        } else {
            throw failure(command, "--\(name) needs a value, \(placeholder)")
        }
    }

    private func place(_ loose: [String], into invocation: inout Invocation) throws(UsageFailure) {
        var rest = loose[...]
        var positionalsLeft = invocation.command.positionals[...]
        var passed: (positional: CommandPositional, argument: String)?
        while let positional = positionalsLeft.popFirst() {
            switch positional.arity {
            case .one, .optional:
                if positional.arity == .optional {
                    // The arguments left may belong to later ones, or may not be among its choices.
                    let needed = positionalsLeft.filter { $0.arity != .optional }.count
                    let isChoice =
                        positional.choices.isEmpty
                        || rest.first.map(positional.choices.contains) == true
                    guard rest.count > needed, isChoice else {
                        if !isChoice, let argument = rest.first { passed = (positional, argument) }
                        continue
                    }
                }
                if let value = rest.popFirst() {
                    guard positional.choices.isEmpty || positional.choices.contains(value) else {
                        throw failure(invocation.command, notAmongChoices(positional, value))
                    }
                    invocation.append(value, toPositional: positional.name)
                } else if positional.arity == .one {
                    throw failure(invocation.command, "\(positional.name) is missing")
                }
            case .many:
                if rest.isEmpty {
                    throw failure(invocation.command, "\(positional.name) is missing")
                }
                while let value = rest.popFirst() {
                    invocation.append(value, toPositional: positional.name)
                }
            }
        }
        if let first = rest.first {
            if let (positional, argument) = passed {
                throw failure(invocation.command, notAmongChoices(positional, argument))
            }
            throw failure(invocation.command, "\(quoted(first)) is one argument too many")
        }
    }

    private func failure(_ command: Command, _ why: String) -> UsageFailure {
        UsageFailure("lenticular \(command.name): \(why); see lenticular \(command.name) --help")
    }
}

private func notAmongChoices(_ positional: CommandPositional, _ argument: String) -> String {
    "\(positional.name) is \(positional.choices.joined(separator: " or ")), not \(quoted(argument))"
}

private func isHelp(_ argument: String?) -> Bool { argument == "--help" || argument == "-h" }

/// An argument within a one-line message: no control characters, and not all of a long one.
private func quoted(_ argument: String) -> String {
    let shown = argument.unicodeScalars.prefix(60).map { scalar in
        scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) ? "?" : Character(scalar)
    }
    return "'\(String(shown))'"
}
