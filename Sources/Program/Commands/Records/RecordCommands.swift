import Administration
import CloudModel
import JSON
import Storage

extension Command {
    /// What operators do with the records of one database.
    static let records: [Command] = [
        Command(
            "zone list", "list the zones of a database", reach: [.looks, .person],
            positionals: CommandPositional.database, options: [CommandOption.user],
            action: .data { invocation, administrator in
                let zones = try administrator.perform(
                    ListDatabaseZones(in: invocation.operatedDatabase()))
                return CommandOutput(
                    try zones.map(zoneLine).joined(separator: "\n"),
                    values: [("zones", .encoded(zones))])
            }),
        Command(
            "record list", "list the records of a zone, those that changed last first",
            reach: [.looks, .person], positionals: CommandPositional.database,
            options: CommandOption.database + [
                CommandOption("type", value: "T", "records of this type alone"),
                CommandOption("search", value: "PREFIX", "those alone whose names begin so"),
            ] + CommandOption.recordPage,
            action: .data { invocation, administrator in
                try recordOutput(
                    administrator.perform(
                        ListRecords(
                            in: invocation.operatedDatabase(), type: invocation.value("type"),
                            invocation.listRequest(usual: recordsUsual))), invocation)
            }),
        Command(
            "record get", "look records up by their names", reach: [.looks, .person],
            positionals: CommandPositional.database + [CommandPositional.recordNames],
            options: CommandOption.database,
            action: .data { invocation, administrator in
                try recordOutput(
                    administrator.perform(
                        GetRecords(
                            invocation.values("NAME"), in: invocation.operatedDatabase())),
                    invocation)
            }),
        Command(
            "record query", "find records by what is in them", reach: [.looks, .person],
            positionals: CommandPositional.database,
            options: CommandOption.database + [
                CommandOption("type", value: "T", "the type of the records", isRequired: true),
                CommandOption(
                    "filter", value: "\"FIELD OP VALUE\"",
                    "only those; all filters must hold, such as 'age >= 18'", isRepeatable: true),
                CommandOption(
                    "sort-by", value: "\"FIELD ASC|DESC\"", "in this order", isRepeatable: true),
            ] + CommandOption.recordPage,
            action: .data { invocation, administrator in
                try recordOutput(
                    administrator.perform(
                        FindRecords(
                            of: invocation.value("type") ?? "", in: invocation.operatedDatabase(),
                            filters: invocation.values("filter"),
                            sorts: invocation.values("sort-by"),
                            invocation.listRequest(usual: recordsUsual))), invocation)
            }),
        Command(
            "record save", "save records as record get prints them", reach: .person,
            positionals: CommandPositional.database + [
                CommandPositional(
                    "FILE", "JSON: one record, an array, or one a line; - for standard input",
                    kind: .contents)
            ],
            options: CommandOption.database + [
                CommandOption(
                    "mode", value: "update|replace|create",
                    "a record that exists gets the fields given (update), no others (replace), or is an error "
                        + "(create)")
            ],
            action: .data { invocation, administrator in
                guard
                    let mode = SaveRecords.Mode(rawValue: invocation.value("mode") ?? "update")
                else { throw invocation.misuse("--mode takes update, replace or create") }
                return try recordOutput(
                    administrator.perform(
                        SaveRecords(
                            invocation.contents("FILE") ?? [], in: invocation.operatedDatabase(),
                            mode: mode)), invocation)
            }),
        Command(
            "record delete", "delete records by their names", reach: .person,
            positionals: CommandPositional.database + [CommandPositional.recordNames],
            options: CommandOption.database,
            question: "Delete the records, and those that refer to them with DELETE_SELF?",
            action: .data { invocation, administrator in
                try recordOutput(
                    administrator.perform(
                        DeleteRecords(
                            invocation.values("NAME"), in: invocation.operatedDatabase())),
                    invocation)
            }),
    ]

    private static func zoneLine(_ zone: [UInt8]) throws -> String {
        let id = try JSONDocument(parsing: zone).root["zoneID"]
        return [id?["zoneName"]?.string, id?["ownerRecordName"]?.string]
            .compactMap { $0 }.joined(separator: "  ")
    }

    /// How many records a page has when nothing else was asked for.
    static let recordsUsual = 200

    private static func recordOutput(
        _ page: RecordsPage, _ invocation: Invocation
    ) throws -> CommandOutput {
        let records = try invocation.shown(page.records)
        let damaged = page.damaged > 0
        let leftOut =
            "left out, as not what was written: \(page.damaged); lenticular check says more"
        var output = CommandOutput.page(
            lines: try RecordTable(records).lines + (damaged ? [leftOut] : []),
            values: [("records", .encoded(records))]
                + (damaged ? [("damaged", .number(Int64(page.damaged)))] : []),
            next: page.next, empty: "no records")
        output.status = page.failed > 0 || damaged ? 1 : 0
        return output
    }
}

extension CommandPositional {
    /// The places of every command that works on one database.
    static let database =
        CommandPositional.containerAndEnvironment + [
            CommandPositional(
                "DATABASE", "public, private or shared",
                choices: DatabaseScope.allCases.map(\.rawValue))
        ]

    fileprivate static let recordNames = CommandPositional(
        "NAME", "record names", arity: .many)
}

extension CommandOption {
    fileprivate static let user = CommandOption(
        "user", value: "EMAIL", "on behalf of this user, by the rules that hold for them")

    /// Which zone of whose database.
    static let database = [
        user, CommandOption("zone", value: "Z", "the zone (_defaultZone)"),
        CommandOption(
            "owner", value: "USERRECORDNAME", "in a shared database, who owns the zone"),
    ]

    fileprivate static let recordPage = [
        CommandOption(
            "limit", value: "N", "so many at most, 1 to \(ListRequest.limitMax); else 200"),
        CommandOption("after", value: "CURSOR", "go on where another page has ended"),
        brief,
    ]
}

extension Invocation {
    /// The database that a command's places and options name.
    func operatedDatabase() throws -> OperatedDatabase {
        guard let scope = DatabaseScope(rawValue: try required("DATABASE")) else {
            throw misuse("DATABASE is public, private or shared")
        }
        return OperatedDatabase(
            try containerAndEnvironment(), scope, of: value("user"), zone: value("zone"),
            owner: value("owner"))
    }
}
