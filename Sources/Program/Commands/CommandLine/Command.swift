import Administration
import Control
import Server
import Storage

/// One thing that the program can be asked to do, as a value: its name, its form, what it runs.
package struct Command: Sendable {
    /// What the command works on, and so where its code runs.
    package enum Action: Sendable {
        /// Runs in the process that was started, and touches no data folder of a running server.
        case local(@Sendable (Invocation, ProcessEnvironment) throws -> CommandOutput)
        /// Acts on the server's data, in the process that holds the data folder. That is this
        /// process, or the server, which is reached through its control socket.
        case data(@Sendable (Invocation, Administrator) throws -> CommandOutput)
        /// As `data`, and says on the way how far it has come.
        case watched(@Sendable (Invocation, Administrator, ProgressWatcher) throws -> CommandOutput)
        /// As `data`, and reads or writes files of the place where it was typed, piece by piece. Their arguments are
        /// of kind `streamed`.
        case streamed(
            @Sendable (Invocation, Administrator, any CallerFiles) throws -> CommandOutput)
        /// As `data`, and makes a folder that an argument names. The process that was started
        /// writes this folder, because the server may have no right to.
        ///
        /// - Parameter file: the name of one file of the folder, which is put in the folder's
        ///   place; nil for the whole folder.
        case copy(
            to: String, file: String? = nil,
            @Sendable (Invocation, Administrator, CopyDestination) throws -> CommandOutput)
    }

    /// The words that name it, such as `api-token create`.
    package let words: [String]
    package let summary: String
    package let reach: CommandReach
    package let positionals: [CommandPositional]
    package let options: [CommandOption]
    /// What is asked on a terminal before it runs; elsewhere it then needs `--yes`.
    package let question: String?
    /// Whether the command runs without `--yes` first, only to show what it would do.
    package let showsFirst: Bool
    package let action: Action
    /// Whether it takes as long as there is data, so that nobody gives up waiting for it.
    package let isLong: Bool
    /// Whether the file that it streams is one that it reads.
    package let readsStream: Bool
    /// What only the place where it was typed can tell; the command gets each as contents of that name.
    package let observes: [String: @Sendable () -> String]

    package init(
        _ name: String, _ summary: String, reach: CommandReach = [],
        positionals: [CommandPositional] = [], options: [CommandOption] = [],
        question: String? = nil, showsFirst: Bool = false,
        isLong: Bool = false, readsStream: Bool = false,
        observes: [String: @Sendable () -> String] = [:], action: Action
    ) {
        self.observes = observes
        self.readsStream = readsStream
        self.words = name.split(separator: " ").map(String.init)
        self.summary = summary
        self.reach = reach
        self.positionals = positionals
        self.options =
            options
            + (question == nil ? [] : [CommandOption("yes", "do not ask whether it is meant")])
            + CommandOption.common
        self.question = question
        self.showsFirst = showsFirst
        self.action = action
        self.isLong = isLong
    }

    package var name: String { words.joined(separator: " ") }
}

/// How an argument's text is to be taken, before the command sees it.
package enum ArgumentKind: Sendable, Equatable {
    case text
    /// A path: made absolute where the command was typed, as the server has another folder.
    case path
    /// As `path`, of what the server itself reads; operators elsewhere name it as the server knows it.
    case serverPath
    /// A file whose contents the command gets, read by the user who typed it; `-` is standard input.
    case contents
    /// A file that the command reads or writes piece by piece, by the user who typed it; `-` is standard input or
    /// output.
    case streamed
    /// A file that the command's `CommandOutput.file` is written to, by the user who typed it.
    case output
}

/// An argument known by its position.
package struct CommandPositional: Sendable {
    package enum Arity: Sendable { case one, optional, many }

    package let name: String
    package let summary: String
    package let arity: Arity
    package let kind: ArgumentKind
    /// What the argument may be, by which an optional one is known from the next; empty for anything.
    package let choices: [String]
    /// Of an argument KEY=VALUE, the keys whose value is a file; the command gets its contents under the key, in
    /// base64.
    package let fileKeys: Set<String>

    package init(
        _ name: String, _ summary: String, arity: Arity = .one, kind: ArgumentKind = .text,
        choices: [String] = [], fileKeys: Set<String> = []
    ) {
        self.choices = choices
        self.fileKeys = fileKeys
        self.name = name
        self.summary = summary
        self.arity = arity
        self.kind = kind
    }
}

/// An argument known by its name, `--name`.
package struct CommandOption: Sendable {
    package let name: String
    /// What stands for the value in help texts; nil for a switch.
    package let value: String?
    package let summary: String
    package let isRepeatable: Bool
    package let isRequired: Bool
    package let kind: ArgumentKind
    /// Whether the switch makes standard input the argument's contents.
    package let readsStandardInput: Bool

    package init(
        _ name: String, value: String? = nil, _ summary: String, isRepeatable: Bool = false,
        isRequired: Bool = false, kind: ArgumentKind = .text, readsStandardInput: Bool = false
    ) {
        self.name = name
        self.value = value
        self.summary = summary
        self.isRepeatable = isRepeatable
        self.isRequired = isRequired
        self.kind = kind
        self.readsStandardInput = readsStandardInput
    }

    /// What every list takes.
    ///
    /// - Parameters:
    ///   - searched: what the prefix is the beginning of.
    ///   - usual: how many items a page has when the option is left out.
    static func list(
        searched: String, usual: Int = ListRequest.limitUsual
    ) -> [CommandOption] {
        [CommandOption("search", value: "PREFIX", "those alone whose \(searched) begins so")]
            + pages(usual: usual)
    }

    /// What every list takes that is not searched.
    static func pages(usual: Int = ListRequest.limitUsual) -> [CommandOption] {
        [
            CommandOption(
                "limit", value: "N", "so many at most, 1 to \(ListRequest.limitMax); else \(usual)"),
            CommandOption("after", value: "CURSOR", "go on where another page has ended"),
        ]
    }

    /// What every command takes.
    package static let common = [
        CommandOption("data", value: "DIR", "the data folder", kind: .path),
        CommandOption("config", value: "FILE", "the configuration file", kind: .path),
        CommandOption("json", "print one JSON object"),
        CommandOption("help", "print this text"),
    ]
}
