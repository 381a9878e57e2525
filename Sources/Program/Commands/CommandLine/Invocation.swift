import Control
import Storage

extension String {
    /// The halves of KEY=VALUE; nil for anything else.
    var keyAndValue: (key: String, value: String)? {
        guard let sign = firstIndex(of: "=") else { return nil }
        return (String(self[..<sign]), String(self[index(after: sign)...]))
    }
}

/// A command with its arguments, checked against what the command takes.
package struct Invocation: Sendable {
    package let command: Command
    private var options: [String: [String]] = [:]
    private var positionals: [String: [String]] = [:]
    /// What arguments of kind `contents` and standard input held, by their names.
    private var contents: [String: [UInt8]] = [:]

    init(command: Command) { self.command = command }

    /// The value of an option or place; nil when it was not given.
    package func value(_ name: String) -> String? { values(name).first }

    /// The value of a place that the command requires.
    ///
    /// - Throws: `CommandFailure` when it is missing, which the parser has ruled out.
    package func required(_ name: String) throws -> String {
        guard let value = value(name) else { throw CommandFailure("\(name) is missing") }
        return value
    }

    /// All values of an option or place that may come more than once.
    package func values(_ name: String) -> [String] { options[name] ?? positionals[name] ?? [] }

    /// Whether an option was given.
    package func has(_ name: String) -> Bool { options[name] != nil }

    /// What the file or standard input behind an argument held; nil when it was not given.
    package func contents(_ name: String) -> [UInt8]? { contents[name] }

    mutating func append(_ value: String, toOption name: String) {
        options[name, default: []].append(value)
    }

    mutating func append(_ value: String, toPositional name: String) {
        positionals[name, default: []].append(value)
    }

    mutating func setContents(_ bytes: [UInt8], of name: String) { contents[name] = bytes }

    /// Puts another text in place of each argument of a kind.
    mutating func replaceValues(of kind: ArgumentKind, _ change: (String) throws -> String) rethrows
    {
        for option in command.options where option.kind == kind {
            options[option.name] = try options[option.name]?.map(change)
        }
        for positional in command.positionals where positional.kind == kind {
            positionals[positional.name] = try positionals[positional.name]?.map(change)
        }
    }

    /// The arguments that make this invocation again, for the server that is to run it.
    ///
    /// Holds no contents of files and no standard input.
    package var arguments: [String] {
        var arguments = command.words
        for option in command.options {
            for value in options[option.name] ?? [] {
                arguments.append(
                    option.value == nil ? "--\(option.name)" : "--\(option.name)=\(value)")
            }
        }
        arguments.append("--")
        for positional in command.positionals { arguments += positionals[positional.name] ?? [] }
        return arguments
    }

    /// The contents that go with `arguments`.
    package var inputs: [String: [UInt8]] { contents }

    /// Which part of a list is wanted.
    ///
    /// - Parameter usual: how many items, when nothing else was asked for.
    func listRequest(usual: Int = ListRequest.limitUsual) throws -> ListRequest {
        let limit = try value("limit").map { text in
            guard let number = Int(text), (1...ListRequest.limitMax).contains(number) else {
                throw misuse("--limit takes a whole number from 1 to \(ListRequest.limitMax)")
            }
            return number
        }
        return ListRequest(
            after: value("after").map { ListCursor($0) }, limit: limit ?? usual,
            prefix: value("search") ?? "")
    }

    /// Why the command refuses an argument that the parser accepts.
    func misuse(_ why: String) -> UsageFailure {
        UsageFailure("lenticular \(command.name): \(why); see lenticular \(command.name) --help")
    }
}
