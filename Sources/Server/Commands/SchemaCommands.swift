import CloudDatabase
import CloudModel
import SQLiteStorage
import Storage

extension Command {
    static let schemas: [Command] = [
        Command(
            "schema export", "write a schema down, on standard output or into a file",
            places: [container, environment, CommandPlace.optionalFile],
            action: .data { invocation, folder in
                let schema = try folder.store(of: invocation).schema
                let text = SchemaLanguage.print(schema)
                let path = invocation.value("FILE")
                var output = CommandOutput(
                    path.map { "schema written to \($0)" } ?? String(text.dropLast()),
                    values: [("changes", .texts([])), ("schema", .text(text))])
                output.file = Array(text.utf8)
                return output
            }),
        Command(
            "schema import", "make development's schema what a file says, or nothing of it",
            places: [container, only(.development), file], options: [prune], isLong: true,
            action: .data { invocation, folder in
                let made = try folder.schemaImport(invocation).run(by: "lenticular schema import")
                return changed(made.lines, none: "development's schema says that already")
            }),
        Command(
            "schema validate", "say what an import would change, and whether it would be refused",
            places: [container, only(.development), file], options: [prune], isLong: true,
            action: .data { invocation, folder in
                let made = try folder.schemaImport(invocation).validate()
                return changed(
                    made.lines, none: "valid; development's schema says that already")
            }),
        Command(
            "schema check", "say in what a schema differs from a file; exit status 1 when it does",
            places: [container, environment, file],
            action: .data { invocation, folder in
                let lines = try folder.drift(invocation).lines
                var output = changed(lines, none: "no difference")
                output.status = lines.isEmpty ? 0 : 1
                return output
            }),
        Command(
            "schema diff",
            "say what differs between a schema and a file, or production and development",
            places: [
                container, environment,
                CommandPlace("FILE", fileSummary, arity: .optional, kind: .contents),
            ],
            action: .data { invocation, folder in
                changed(try folder.drift(invocation).lines, none: "no difference")
            }),
        Command(
            "schema deploy", "bring production what development's schema has",
            places: [container, only(.production)],
            options: [
                CommandOption(
                    "prune", "also take from production what development has not and no record has")
            ],
            question: "Deploy this to production?", showsFirst: true, isLong: true,
            action: .data { invocation, folder in try folder.deploySchema(invocation) }),
        Command(
            "schema reset", "set development back to production's schema and delete its data",
            places: [container, only(.development)],
            question: "Delete all data of development, for ever?", showsFirst: true, isLong: true,
            action: .data { invocation, folder in try folder.resetSchema(invocation) }),
        Command(
            "schema history", "say who changed a schema, when, and in what; the latest first",
            places: [container, environment],
            options: [
                CommandOption("limit", value: "N", "how many changes; 50 when left out")
            ],
            action: .data { invocation, folder in try folder.schemaHistory(invocation) }),
    ]

    private static let container = CommandPlace("CONTAINER", "the container's ID")
    private static let environment = CommandPlace(
        "ENVIRONMENT", "development or production; development when left out", arity: .optional,
        choices: Environment.allCases.map(\.rawValue))
    /// For commands that work on one of the two environments alone.
    private static func only(_ environment: Environment) -> CommandPlace {
        CommandPlace(
            "ENVIRONMENT", "\(environment.rawValue), which it always is", arity: .optional,
            choices: Environment.allCases.map(\.rawValue))
    }
    private static let fileSummary = "a file in the schema language; - for standard input"
    private static let file = CommandPlace("FILE", fileSummary, kind: .contents)
    private static let prune = CommandOption(
        "prune", "let development lose what production has and no record of development")

    static func changed(_ lines: [String], none: String) -> CommandOutput {
        CommandOutput(
            lines.isEmpty ? none : lines.joined(separator: "\n"),
            values: [("changes", .texts(lines))])
    }
}

extension CommandPlace {
    fileprivate static let optionalFile = CommandPlace(
        "FILE", "where to write it", arity: .optional, kind: .output)
}

extension DataFolder {
    /// The store that a command's places name; development's when they name no environment.
    fileprivate func store(of invocation: Invocation) throws -> SQLiteStore {
        let name = invocation.value("ENVIRONMENT") ?? Environment.development.rawValue
        return try store(of: invocation, Environment(rawValue: name) ?? .development)
    }

    private func store(
        of invocation: Invocation, _ environment: Environment
    ) throws -> SQLiteStore {
        let container = try containers.find(invocation.required("CONTAINER")).id
        return try stores.store(of: container, in: environment)
    }

    /// Refuses another environment than the one that a command is for.
    private func require(_ environment: Environment, in invocation: Invocation) throws {
        guard let name = invocation.value("ENVIRONMENT"), name != environment.rawValue else {
            return
        }
        throw CommandFailure(
            "\(invocation.command.name) works on \(environment.rawValue) only; what development "
                + "has comes to production by schema deploy")
    }

    private func schema(in invocation: Invocation) throws -> Schema? {
        guard let text = invocation.contents("FILE") else { return nil }
        do {
            return try SchemaLanguage.parse(
                text, bytesMax: configuration.serviceLimits.schemaBytesMax)
        } catch {
            throw CommandFailure("\(invocation.value("FILE") ?? ""): \(error)")
        }
    }

    fileprivate func schemaImport(_ invocation: Invocation) throws -> ImportSchema {
        try require(.development, in: invocation)
        guard let wanted = try schema(in: invocation) else {
            throw CommandFailure("FILE is missing")
        }
        return ImportSchema(
            wanted, into: try store(of: invocation, .development),
            production: try store(of: invocation, .production),
            limits: configuration.serviceLimits, prunes: invocation.has("prune"))
    }

    /// What would make the schema that of the file; or production's that of development.
    fileprivate func drift(_ invocation: Invocation) throws -> SchemaDifference {
        if let wanted = try schema(in: invocation) {
            let schema = try store(of: invocation).schema
            return SchemaDifference(from: schema, to: wanted.settled(over: schema))
        }
        let schema = try store(of: invocation, .production).schema
        let wanted = try store(of: invocation, .development).schema
        return SchemaDifference(from: schema, to: wanted.settled(over: schema))
    }

    fileprivate func deploySchema(_ invocation: Invocation) throws -> CommandOutput {
        try require(.production, in: invocation)
        let deployment = DeploySchema(
            from: try store(of: invocation, .development),
            to: try store(of: invocation, .production), limits: configuration.serviceLimits,
            prunes: invocation.has("prune"))
        let isMeant = invocation.has("yes")
        let outcome =
            try isMeant
            ? deployment.run(by: "lenticular schema deploy") : deployment.preview()
        var output = Command.changed(
            outcome.made.lines, none: "production has all that development has")
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

    fileprivate func resetSchema(_ invocation: Invocation) throws -> CommandOutput {
        try require(.development, in: invocation)
        let container = try containers.find(invocation.required("CONTAINER")).id
        let schema = try store(of: invocation, .production).schema
        let difference = SchemaDifference(
            from: try store(of: invocation, .development).schema, to: schema)
        var output = Command.changed(
            difference.lines, none: "development has production's schema already")
        guard invocation.has("yes") else {
            output.asks = true
            return output
        }
        try stores.reset(
            Stores.Key(container, .development),
            SQLiteStore.Beginning(
                schema: schema, moment: clock.now(), who: "lenticular schema reset",
                difference: difference.lines + ["- all data"]))
        output.text += "\nall data of development is deleted"
        return output
    }

    fileprivate func schemaHistory(_ invocation: Invocation) throws -> CommandOutput {
        let text = invocation.value("limit") ?? "50"
        guard let limit = Int(text), (1...1_000_000).contains(limit) else {
            throw CommandFailure("--limit takes a number of changes, at least 1")
        }
        let changes = try store(of: invocation).read {
            try $0.schemaHistory(limit: limit)
        }
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

extension SchemaChange {
    /// Whether records may have had what it removes.
    fileprivate var takesRecords: Bool {
        switch self {
        case .typeRemoved, .fieldRemoved: true
        default: false
        }
    }
}
