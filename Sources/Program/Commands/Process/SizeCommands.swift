import Administration
import CloudModel
import Control
import Storage

extension Command {
    /// How many users `size --users` names at most.
    private static let usersMax = 100_000

    static let sizes: [Command] = [
        Command(
            "size", "say how much each container holds and takes, and what it could give back",
            reach: [.looks, .own], positionals: someEnvironments,
            options: [
                CommandOption("users", value: "N", "also who stores the most, so many of each")
            ], isLong: true,
            action: .data { invocation, administrator in
                let sizes = try administrator.perform(
                    MeasureSizes(
                        of: invocation.selectedEnvironments(),
                        owners: invocation.value("users").map(userCount) ?? 0))
                return CommandOutput(
                    sizes.flatMap(\.lines).joined(separator: "\n"),
                    values: [
                        ("container", .texts(sizes.map(\.target.container.name))),
                        ("environments", .objects(sizes.map(\.members))),
                    ])
            }),
        Command(
            "shrink", "give back to the disk what deletions have freed, also while the server runs",
            positionals: someEnvironments, isLong: true,
            action: .watched { invocation, administrator, watcher in
                let shrunk = try administrator.perform(
                    ShrinkStores(invocation.selectedEnvironments()) { watcher.tell($0.line) })
                let given = shrunk.reduce(0) { $0 + max(0, $1.before.bytes - $1.after.bytes) }
                return CommandOutput(
                    (shrunk.map(\.line) + ["given back: \(ByteCount(given))"])
                        .joined(separator: "\n"),
                    values: [
                        ("container", .texts(shrunk.map(\.target.container.name))),
                        ("givenBack", .number(given)),
                        ("environments", .objects(shrunk.map(\.members))),
                    ])
            }),
    ]

    private static let someEnvironments = [
        CommandPositional("CONTAINER", "the container's ID; else all", arity: .optional),
        CommandPositional("ENVIRONMENT", "development or production; else both", arity: .optional),
    ]

    private static func userCount(_ text: String) throws -> Int {
        guard let number = Int(text), (1...usersMax).contains(number) else {
            throw UsageFailure(
                "lenticular size: --users takes a whole number from 1 to \(usersMax)")
        }
        return number
    }
}

extension Invocation {
    /// The environments that optional places name.
    fileprivate func selectedEnvironments() throws -> SelectedEnvironments {
        let environment = try value("ENVIRONMENT").map { text in
            guard let found = Environment(rawValue: text) else {
                throw misuse("ENVIRONMENT is development or production")
            }
            return found
        }
        return SelectedEnvironments(container: value("CONTAINER"), environment: environment)
    }
}

/// A number of bytes as people read it.
struct ByteCount: CustomStringConvertible {
    private let bytes: Int64

    init(_ bytes: Int64) { self.bytes = bytes }

    var description: String {
        let units: [(name: String, bytes: Int64)] = [
            ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000),
        ]
        guard let unit = units.first(where: { bytes >= $0.bytes }) else { return "\(bytes) B" }
        let tenths = bytes / (unit.bytes / 10)
        return "\(tenths / 10).\(tenths % 10) \(unit.name)"
    }
}

extension ContainerEnvironment {
    fileprivate var words: String { "\(container.name) \(environment.rawValue)" }

    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [
            ("container", .text(container.name)), ("environment", .text(environment.rawValue)),
        ]
    }
}

extension StoredAmount {
    fileprivate var words: String {
        "records=\(records)  recordBytes=\(ByteCount(recordBytes))"
            + "  assetBytes=\(ByteCount(assetBytes))"
    }

    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [
            ("records", .number(records)), ("recordBytes", .number(recordBytes)),
            ("assetBytes", .number(assetBytes)),
        ]
    }
}

extension MeasureSizes.Measured {
    fileprivate var lines: [String] {
        [
            "\(target.words)  \(size.amount.words)  fileBytes=\(ByteCount(size.space.bytes))"
                + "  freeBytes=\(ByteCount(size.space.freeBytes))"
        ] + size.owners.map { "  \($0.owner.text)  \($0.amount.words)" }
    }

    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        let users: [[(key: String, value: CommandOutput.Value)]] = size.owners.map {
            [("userRecordName", .text($0.owner.text))] + $0.amount.members
        }
        return target.members + size.amount.members + [
            ("fileBytes", .number(size.space.bytes)), ("freeBytes", .number(size.space.freeBytes)),
            ("users", .objects(users)),
        ]
    }
}

extension ShrinkStores.Shrunk {
    fileprivate var line: String {
        "\(target.words)  \(ByteCount(before.bytes)) → \(ByteCount(after.bytes))"
    }

    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        target.members + [
            ("fileBytesBefore", .number(before.bytes)), ("fileBytes", .number(after.bytes)),
            ("freeBytes", .number(after.freeBytes)),
        ]
    }
}

extension ShrinkStores.Progress {
    fileprivate var line: String {
        guard before.freeBytes > 0, now.freeBytes > 0 else { return "\(target.words)  100 %" }
        let done = max(0, before.freeBytes - now.freeBytes) * 100 / before.freeBytes
        return "\(target.words)  \(done) %"
    }
}
