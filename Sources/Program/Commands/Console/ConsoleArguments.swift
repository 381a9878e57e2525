import Administration
import Control
import JSON
import Server

/// An argument of a command by the key that it has in a JSON object.
struct ConsoleArgument {
    enum Form: String {
        /// `true` or `false`.
        case flag
        case text
        /// What a file would hold, in place of its name.
        case contents
        /// Texts KEY=VALUE; of a key that takes a file, its contents in base64.
        case pairs
    }

    let key: String
    let summary: String
    let form: Form
    let isRequired: Bool
    /// Whether a list of texts may come.
    let isRepeatable: Bool
    let choices: [String]
    fileprivate let name: String
    fileprivate let isOption: Bool
    fileprivate let fileKeys: Set<String>

    /// Nil for what means something only where a command was typed.
    init?(_ option: CommandOption) {
        let isCommon = CommandOption.common.contains { $0.name == option.name }
        let kinds: [ArgumentKind] = [.text, .contents, .serverPath]
        guard !isCommon, kinds.contains(option.kind) else { return nil }
        (key, name, summary) = (option.name, option.name, option.summary)
        isOption = true
        (isRequired, isRepeatable) = (option.isRequired, option.isRepeatable)
        (choices, fileKeys) = ([], [])
        if option.readsStandardInput || option.kind == .contents {
            form = .contents
        } else {
            form = option.value == nil ? .flag : .text
        }
    }

    /// As above.
    init?(_ positional: CommandPositional) {
        guard positional.kind == .text || positional.kind == .contents else { return nil }
        (name, summary) = (positional.name, positional.summary)
        key = positional.name.lowercased()
        isOption = false
        isRequired = positional.arity != .optional
        isRepeatable = positional.arity == .many
        (choices, fileKeys) = (positional.choices, positional.fileKeys)
        if positional.kind == .contents {
            form = .contents
        } else {
            form = positional.fileKeys.isEmpty ? .text : .pairs
        }
    }
}

extension Command {
    /// What the operators' interface takes for it.
    var consoleArguments: [ConsoleArgument] {
        positionals.compactMap { ConsoleArgument($0) } + options.compactMap { ConsoleArgument($0) }
    }
}

/// The arguments of a command as a JSON object holds them.
struct ConsoleArguments {
    private let command: Command
    private let members: [(key: String, value: JSONValue)]

    /// - Parameter body: empty for no arguments.
    /// - Throws: `ConsoleFault`.
    init(_ body: [UInt8], of command: Command) throws(ConsoleFault) {
        self.command = command
        guard !body.isEmpty else {
            members = []
            return
        }
        // NB: whatever is not JSON is refused like JSON of another form.
        guard let root = (try? JSONDocument(parsing: body))?.root, root.kind == .object else {
            throw ConsoleFault(.usage, "the body is no JSON object")
        }
        members = root.members.compactMap { key, value in key.string.map { ($0, value) } }
    }

    /// - Parameter acting: as whom the operator acts, whom a command for one person is for; nil for as themselves.
    /// - Throws: `ConsoleFault` that names the argument and what was expected.
    func invocation(by acting: Acting? = nil) throws(ConsoleFault) -> Invocation {
        var invocation = Invocation(command: command)
        if command.consoleStreaming != nil {
            invocation.append("", toOption: "json")
            // What streams is standard input or output here.
            for positional in command.positionals
            where positional.kind == .streamed || positional.kind == .path {
                invocation.append("-", toPositional: positional.name)
            }
        }
        let known = command.consoleArguments
        for (key, value) in members {
            guard let argument = known.first(where: { $0.key == key }) else {
                throw ConsoleFault(
                    .usage,
                    "\(command.name) takes \(known.map(\.key).joined(separator: ", "))")
            }
            try put(value, as: argument, into: &invocation)
        }
        if let acting, CommandActing(of: command) == .person {
            put(acting, among: known, into: &invocation)
        }
        for argument in known where argument.isRequired && !has(argument, in: invocation) {
            throw ConsoleFault(.usage, "\(argument.key) is missing")
        }
        return invocation
    }

    private func has(_ argument: ConsoleArgument, in invocation: Invocation) -> Bool {
        !invocation.values(argument.name).isEmpty
    }

    /// Says for whom and where, as far as it was not said.
    private func put(
        _ acting: Acting, among known: [ConsoleArgument], into invocation: inout Invocation
    ) {
        let target = acting.target
        for (key, text) in [
            ("user", acting.name), ("email", acting.name), ("container", target.container.name),
            ("environment", target.environment.rawValue),
        ] {
            guard let argument = known.first(where: { $0.key == key }),
                !has(argument, in: invocation)
            else { continue }
            append(text, argument, to: &invocation)
        }
    }

    private func put(
        _ value: JSONValue, as argument: ConsoleArgument, into invocation: inout Invocation
    ) throws(ConsoleFault) {
        switch argument.form {
        case .flag:
            guard let flag = value.bool else {
                throw ConsoleFault(.usage, "\(argument.key) is true or false")
            }
            if flag { invocation.append("", toOption: argument.name) }
        case .contents:
            guard let text = value.string else {
                throw ConsoleFault(.usage, "\(argument.key) is a text: what the file would hold")
            }
            invocation.setContents(Array(text.utf8), of: argument.name)
            append(argument.isOption ? "" : argument.name, argument, to: &invocation)
        case .text:
            for text in try texts(value, of: argument) {
                append(text, argument, to: &invocation)
            }
        case .pairs:
            for text in try texts(value, of: argument) {
                if let (key, contents) = text.keyAndValue, argument.fileKeys.contains(key),
                    !contents.isEmpty
                {
                    invocation.setContents(Array(contents.utf8), of: key)
                    append("\(key)=given", argument, to: &invocation)
                } else {
                    append(text, argument, to: &invocation)
                }
            }
        }
    }

    private func texts(
        _ value: JSONValue, of argument: ConsoleArgument
    ) throws(ConsoleFault) -> [String] {
        let values = value.kind == .array && argument.isRepeatable ? Array(value.elements) : [value]
        var texts: [String] = []
        for value in values {
            guard let text = value.string ?? value.int64.map({ "\($0)" }) else {
                throw ConsoleFault(
                    .usage, "\(argument.key) is a text\(argument.isRepeatable ? ", or a list" : "")"
                )
            }
            guard argument.choices.isEmpty || argument.choices.contains(text) else {
                throw ConsoleFault(
                    .usage, "\(argument.key) is \(argument.choices.joined(separator: " or "))")
            }
            texts.append(text)
        }
        return texts
    }

    private func append(
        _ text: String, _ argument: ConsoleArgument, to invocation: inout Invocation
    ) {
        if argument.isOption {
            invocation.append(text, toOption: argument.name)
        } else {
            invocation.append(text, toPositional: argument.name)
        }
    }
}
