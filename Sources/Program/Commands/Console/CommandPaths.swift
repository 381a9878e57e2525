import JSON
import Server

/// The commands of the operators' interface as `/openapi.json` describes them: a path each, with its arguments.
struct CommandPaths {
    private let commands: [Command]

    init(of commands: [Command]) { self.commands = commands.filter(\.isAtConsole) }

    var described: [DescribedConsole.Member] {
        commands.map { command in
            DescribedConsole.Member(
                name: DescribedConsole.path(of: command.words), json: Self.item(command))
        }
    }

    private static func item(_ command: Command) -> [UInt8] {
        let streaming = command.consoleStreaming
        var line = DescribedConsole.item()
        line.key("post")
        line.beginObject()
        line.key("operationId")
        line.text((["console"] + command.words).joined(separator: "-"))
        line.key("summary")
        line.text(command.summary)
        if command.question != nil {
            line.key("description")
            line.text("Asks first: it is done with `yes`, and answers 409 without.")
        }
        DescribedConsole.appendSecurity(isForPages: true, to: &line)
        if streaming == .body {
            line.key("parameters")
            line.beginArray()
            line.beginObject()
            line.key("name")
            line.text("arguments")
            line.key("in")
            line.text("query")
            appendContent("application/json", arguments(of: command), to: &line)
            line.endObject()
            line.endArray()
        }
        line.key("requestBody")
        line.beginObject()
        if streaming == .body {
            appendContent("application/octet-stream", Array("{}".utf8), to: &line)
        } else {
            appendContent("application/json", arguments(of: command), to: &line)
        }
        line.endObject()
        DescribedConsole.appendAnswers(
            as: streaming == .answer ? types(of: command) : ["application/json"], to: &line)
        line.endObject()
        line.endObject()
        return line.bytes
    }

    /// What an answer that goes on may be; one with nothing to go on with is an object.
    private static func types(of command: Command) -> [String] {
        if case .copy = command.action { return ["application/json", "application/zip"] }
        let isTable = command.options.contains { $0.name == "format" }
        return ["application/json", "application/x-ndjson"] + (isTable ? ["text/csv"] : [])
    }

    private static func appendContent(
        _ type: String, _ schema: [UInt8], to line: inout JSONLine
    ) {
        line.key("content")
        line.beginObject()
        line.key(type)
        line.beginObject()
        line.key("schema")
        line.encoded(schema)
        line.endObject()
        line.endObject()
    }

    // MARK: - Arguments

    private static func arguments(of command: Command) -> [UInt8] {
        let arguments = command.consoleArguments
        var line = JSONLine()
        line.beginObject()
        line.key("type")
        line.text("object")
        line.key("additionalProperties")
        line.flag(false)
        let required = arguments.filter(\.isRequired)
        if !required.isEmpty {
            line.key("required")
            line.beginArray()
            for argument in required { line.text(argument.key) }
            line.endArray()
        }
        line.key("properties")
        line.beginObject()
        for argument in arguments {
            line.key(argument.key)
            append(argument, to: &line)
        }
        line.endObject()
        line.endObject()
        return line.bytes
    }

    private static func append(_ argument: ConsoleArgument, to line: inout JSONLine) {
        line.beginObject()
        line.key("description")
        line.text(argument.summary)
        switch argument.form {
        case .flag:
            line.key("type")
            line.text("boolean")
        case .contents:
            line.key("type")
            line.text("string")
        case .text, .pairs:
            guard argument.isRepeatable else {
                appendText(argument, to: &line)
                break
            }
            line.key("anyOf")
            line.beginArray()
            line.beginObject()
            appendText(argument, to: &line)
            line.endObject()
            line.beginObject()
            line.key("type")
            line.text("array")
            line.key("items")
            line.beginObject()
            appendText(argument, to: &line)
            line.endObject()
            line.endObject()
            line.endArray()
        }
        line.endObject()
    }

    /// A text, for which a number may stand.
    private static func appendText(_ argument: ConsoleArgument, to line: inout JSONLine) {
        line.key("type")
        line.beginArray()
        line.text("string")
        line.text("integer")
        line.endArray()
        guard !argument.choices.isEmpty else { return }
        line.key("enum")
        line.beginArray()
        for choice in argument.choices { line.text(choice) }
        line.endArray()
    }
}
