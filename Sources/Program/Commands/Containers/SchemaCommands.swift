import Administration
import CloudDatabase
import CloudModel
import Control
import Storage

extension Command {
    static let schemas: [Command] = [
        Command(
            "schema export", "write a schema down, on standard output or into a file",
            reach: [.looks, .own],
            positionals: [container, environment, CommandPositional.optionalFile],
            action: .data { invocation, administrator in
                let text = try administrator.perform(
                    ExportSchema(of: invocation.schemaEnvironment()))
                let path = invocation.value("FILE")
                var output = CommandOutput(
                    path.map { "schema written to \($0)" } ?? String(text.dropLast()),
                    values: [("changes", .texts([])), ("schema", .text(text))])
                output.file = Array(text.utf8)
                return output
            }),
        Command(
            "schema import", "make development's schema what a file says, or nothing of it",
            positionals: [container, only(.development), file], options: [prune], isLong: true,
            action: .data { invocation, administrator in
                let made = try administrator.perform(invocation.schemaImport(isMeant: true))
                return changed(made.lines, none: "development's schema says that already")
            }),
        Command(
            "schema validate", "say what an import would change, and whether it would be refused",
            reach: [.looks, .own],
            positionals: [container, only(.development), file], options: [prune], isLong: true,
            action: .data { invocation, administrator in
                let made = try administrator.perform(invocation.schemaImport(isMeant: false))
                return changed(
                    made.lines, none: "valid; development's schema says that already")
            }),
        Command(
            "schema check", "say in what a schema differs from a file; exit status 1 when it does",
            reach: [.looks, .own], positionals: [container, environment, file],
            action: .data { invocation, administrator in
                let lines = try administrator.perform(invocation.schemaComparison()).lines
                var output = changed(lines, none: "no difference")
                output.status = lines.isEmpty ? 0 : 1
                return output
            }),
        Command(
            "schema diff",
            "say what differs between a schema and a file, or production and development",
            reach: [.looks, .own],
            positionals: [
                container, environment,
                CommandPositional("FILE", fileSummary, arity: .optional, kind: .contents),
            ],
            action: .data { invocation, administrator in
                changed(
                    try administrator.perform(invocation.schemaComparison()).lines,
                    none: "no difference")
            }),
        Command(
            "schema deploy", "bring production what development's schema has", reach: .looks,
            positionals: [container, only(.production)],
            options: [
                CommandOption(
                    "prune", "also take from production what development has not and no record has")
            ],
            question: "Deploy this to production?", showsFirst: true, isLong: true,
            action: .data { try deploy($0, by: $1) }),
        Command(
            "schema reset", "set development back to production's schema and delete its data",
            reach: .looks, positionals: [container, only(.development)],
            question: "Delete all data of development, for ever?", showsFirst: true, isLong: true,
            action: .data { try reset($0, by: $1) }),
        Command(
            "schema history", "say who changed a schema, when, and in what; the latest first",
            reach: [.looks, .own], positionals: [container, environment],
            options: [
                CommandOption("limit", value: "N", "how many changes; 50 when left out")
            ],
            action: .data { try history($0, by: $1) }),
        Command(
            "schema indexes", "list the indexes that queries have had made, and how far each is",
            reach: [.looks, .own], positionals: [container, environment],
            action: .data { invocation, administrator in
                let found = try administrator.perform(
                    ListIndexes(of: invocation.schemaEnvironment()))
                return CommandOutput(
                    found.isEmpty
                        ? "no query has needed an index yet"
                        : found.map(\.line).joined(separator: "\n"),
                    values: [("indexes", .objects(found.map(\.members)))])
            }),
    ]

    private static let container = CommandPositional("CONTAINER", "the container's ID")
    private static let environment = CommandPositional(
        "ENVIRONMENT", "development or production; development when left out", arity: .optional,
        choices: Environment.allCases.map(\.rawValue))
    /// For commands that work on one of the two environments alone.
    private static func only(_ environment: Environment) -> CommandPositional {
        CommandPositional(
            "ENVIRONMENT", "\(environment.rawValue), which it always is", arity: .optional,
            choices: Environment.allCases.map(\.rawValue))
    }
    private static let fileSummary = "a file in the schema language; - for standard input"
    private static let file = CommandPositional("FILE", fileSummary, kind: .contents)
    private static let prune = CommandOption(
        "prune", "let development lose what production has and no record of development")

    private static func changed(_ lines: [String], none: String) -> CommandOutput {
        CommandOutput(
            lines.isEmpty ? none : lines.joined(separator: "\n"),
            values: [("changes", .texts(lines))])
    }

    private static func deploy(
        _ invocation: Invocation, by administrator: Administrator
    ) throws -> CommandOutput {
        try invocation.require(.production)
        let isMeant = invocation.has("yes")
        let outcome = try administrator.perform(
            DeployDevelopment(
                of: invocation.required("CONTAINER"), prunes: invocation.has("prune"),
                isMeant: isMeant))
        var output = changed(outcome.made.lines, none: "production has all that development has")
        output.asks = !isMeant && !outcome.made.isEmpty
        let shown =
            outcome.made.changes.map { change in
                change.takesRecords
                    ? "\(change) (in \(outcome.usage.count(change)) records)"
                    : "\(change)"
            }
            + outcome.kept.map { "(stays, in \($0.count) records) \($0.change)" }
        if !shown.isEmpty { output.text = shown.joined(separator: "\n") }
        return output
    }

    private static func reset(
        _ invocation: Invocation, by administrator: Administrator
    ) throws -> CommandOutput {
        try invocation.require(.development)
        let isMeant = invocation.has("yes")
        let difference = try administrator.perform(
            ResetDevelopment(of: invocation.required("CONTAINER"), isMeant: isMeant))
        var output = changed(
            difference.lines, none: "development has production's schema already")
        output.asks = !isMeant
        if isMeant { output.text += "\nall data of development is deleted" }
        return output
    }

    private static func history(
        _ invocation: Invocation, by administrator: Administrator
    ) throws -> CommandOutput {
        let text = invocation.value("limit") ?? "50"
        guard let limit = Int(text), (1...1_000_000).contains(limit) else {
            throw invocation.misuse("--limit takes a whole number of changes, at least 1")
        }
        let changes = try administrator.perform(
            ListSchemaChanges(of: invocation.schemaEnvironment(), limit: limit))
        let heads = changes.map { change in
            "\(change.number)  \(Timestamp(change.madeAt).text)  \(change.who)"
        }
        let paragraphs = zip(heads, changes).map { head, change in
            ([head] + change.difference.map { "    \($0)" }).joined(separator: "\n")
        }
        let lines = zip(heads, changes).flatMap { head, change in
            change.difference.map { "\(head)  \($0)" }
        }
        return CommandOutput(
            paragraphs.isEmpty ? "nothing has changed yet" : paragraphs.joined(separator: "\n"),
            values: [("changes", .texts(lines))])
    }
}

extension CommandPositional {
    fileprivate static let optionalFile = CommandPositional(
        "FILE", "where to write it", arity: .optional, kind: .output)
}

extension Invocation {
    /// The environment that a command's places name; development when they name none.
    fileprivate func schemaEnvironment() throws -> NamedEnvironment {
        let name = value("ENVIRONMENT") ?? Environment.development.rawValue
        return NamedEnvironment(
            try required("CONTAINER"), Environment(rawValue: name) ?? .development)
    }

    /// Refuses another environment than the one that a command is for.
    fileprivate func require(_ environment: Environment) throws {
        guard let name = value("ENVIRONMENT"), name != environment.rawValue else { return }
        throw CommandFailure(
            "\(command.name) works on \(environment.rawValue) only; what development has comes to "
                + "production by schema deploy")
    }

    private var schemaFile: SchemaFile? {
        contents("FILE").map { SchemaFile(named: value("FILE") ?? "", $0) }
    }

    fileprivate func schemaImport(isMeant: Bool) throws -> ImportSchemaFile {
        try require(.development)
        guard let schemaFile else { throw misuse("FILE is missing") }
        return ImportSchemaFile(
            schemaFile, into: try required("CONTAINER"), prunes: has("prune"), isMeant: isMeant)
    }

    fileprivate func schemaComparison() throws -> CompareSchema {
        CompareSchema(of: try schemaEnvironment(), with: schemaFile)
    }
}

extension SchemaChange {
    /// Whether records may have had what it removes.
    fileprivate var takesRecords: Bool {
        switch self {
        case .typeRemoved, .fieldRemoved: true
        default: false
        }
    }
}

extension IndexSize {
    fileprivate var line: String {
        let size = entries.map { "  \($0)\($0 == Self.entriesMax ? " or more" : "") entries" } ?? ""
        return "\(type).\(field)  \(kind.rawValue)  \(state.rawValue) \(percent) %\(size)"
    }

    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [
            ("type", .text(type)), ("field", .text(field)), ("kind", .text(kind.rawValue)),
            ("state", .text(state.rawValue)), ("percent", .number(Int64(percent))),
        ] + (entries.map { [("entries", .number($0))] } ?? [])
    }
}
