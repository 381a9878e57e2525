/// A configuration with what is known of how it came about.
package struct LoadedConfiguration: Sendable {
    /// Variables with the settings' prefix that name no setting.
    static let otherVariables: Set = [
        "LENTICULAR_CONTAINER", "LENTICULAR_SERVICE_FILE", "LENTICULAR_TESTDATA",
    ]
    static let variablePrefix = "LENTICULAR_"

    package var values = ServerConfiguration()
    /// Where each setting was said last, by its path; nothing for those that have their default.
    package private(set) var origins: [String: ConfigurationError.Origin] = [:]
    /// What is odd and stops nothing, a line each.
    package private(set) var warnings: [String] = []

    /// The defaults.
    init() {}

    /// Puts together what the file, the environment and the command line say.
    ///
    /// The later of them wins.
    ///
    /// A variable with the settings' prefix that names no setting leads only to a warning. Clusters set
    /// such variables for every service that has this program's name.
    ///
    /// - Parameters:
    ///   - file: path of a JSON5 file; nil for none.
    ///   - environment: the process's variables; those that begin with `LENTICULAR_` count.
    ///   - flags: settings by path, as texts; a list's path once for each element.
    /// - Throws: `ConfigurationError` for a file that cannot be read, an unknown key, a value that is not
    ///   allowed or of a wrong type, and settings that exclude each other.
    package init(
        file: String?, environment: [String: String], flags: [(path: String, value: String)]
    ) throws(ConfigurationError) {
        if let file { try apply(file: file) }
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) {
            try apply(variable: name, value)
        }
        try apply(flags: flags)
        try values.readTokenFile()
        try values.checkTogether()
    }

    /// Where a setting's value comes from, in words.
    package func origin(of path: String) -> String {
        guard let origin = origins[path] else { return "the default of \(path)" }
        return "\(path) from \(origin)"
    }

    /// Notes where a setting was said.
    mutating func note(_ origin: ConfigurationError.Origin, of setting: Setting) {
        origins[setting.path] = origin
    }

    private mutating func apply(file: String) throws(ConfigurationError) {
        let bytes = try SettingsFile.contents(of: file)
        let root: JSON5Value
        do throws(JSON5Error) {
            root = try JSON5Reader.read(bytes)
        } catch {
            throw ConfigurationError(
                origin: .file(file, line: error.location.line, column: error.location.column),
                path: "",
                reason: error.reason)
        }
        try SettingsTree(file: file).apply(root, to: &self)
    }

    private mutating func apply(
        variable name: String, _ value: String
    ) throws(ConfigurationError) {
        guard name.hasPrefix(Self.variablePrefix), !Self.otherVariables.contains(name) else {
            return
        }
        let origin = ConfigurationError.Origin.environment(name)
        guard let setting = Setting.byEnvironmentName[name] else {
            let near = NearName.closest(to: name, among: Setting.byEnvironmentName.keys)
            warnings.append(
                "\(origin): no setting has it"
                    + (near.map { "; is \($0) meant?" } ?? ", so it says nothing"))
            return
        }
        let texts =
            value.isEmpty ? [] : value.split(separator: ",", omittingEmptySubsequences: false)
        try setting.apply(value, list: texts.map(String.init), to: &values, from: origin)
        note(origin, of: setting)
    }

    private mutating func apply(
        flags: [(path: String, value: String)]
    ) throws(ConfigurationError) {
        for (path, value) in flags {
            guard let setting = Setting.byPath[path] else {
                throw ConfigurationError(
                    origin: .commandLine, path: path, reason: "expected the path of a setting")
            }
            let list = flags.filter { $0.path == path }.map(\.value)
            try setting.apply(value, list: list, to: &values, from: .commandLine)
            note(.commandLine, of: setting)
        }
    }
}
