/// A setting that cannot be used, or a file that cannot be read.
///
/// Never repeats the value: it may be a secret.
package struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Where the value came from.
    package enum Origin: Equatable, Sendable, CustomStringConvertible {
        case file(String, line: Int, column: Int)
        /// A file as a whole.
        case fileAsWhole(String)
        case environment(String)
        case commandLine
        /// The settings together, each of them allowed alone.
        case together

        package var description: String {
            switch self {
            case .file(let file, let line, let column): "\(file), line \(line), column \(column)"
            case .fileAsWhole(let file): file
            case .environment(let name): "environment variable \(name)"
            case .commandLine: "command line"
            case .together: "settings"
            }
        }
    }

    package let origin: Origin
    /// The setting's keys joined by dots; empty when the file itself is at fault.
    package let path: String
    /// What was expected, as a phrase without a capital or a full stop.
    package let reason: String

    package var description: String {
        path.isEmpty ? "\(origin): \(reason)" : "\(origin): \(path): \(reason)"
    }
}
