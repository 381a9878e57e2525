/// Loading.
extension Configuration {
    /// Variables with the settings' prefix that are none.
    static let otherVariables: Set = ["LENTICULAR_CONTAINER", "LENTICULAR_TESTDATA"]

    /// Puts together what the file, the environment and the command line say, the later winning.
    ///
    /// - Parameters:
    ///   - file: path of a JSON5 file; nil for none.
    ///   - environment: the process's variables; those that begin with `LENTICULAR_` count.
    ///   - flags: settings by path, as texts; a list's path once for each element.
    /// - Throws: `ConfigurationError` for a file that cannot be read, an unknown key or variable, a
    ///   value of a wrong type or not allowed, and settings that exclude each other.
    package static func load(
        file: String?, environment: [String: String], flags: [(path: String, value: String)]
    ) throws(ConfigurationError) -> Configuration {
        var configuration = Configuration()
        if let file { try configuration.apply(file: file) }
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) {
            try configuration.apply(variable: name, value)
        }
        try configuration.apply(flags: flags)
        try configuration.readTokenFile()
        try configuration.checkTogether()
        return configuration
    }

    private mutating func apply(file: String) throws(ConfigurationError) {
        let bytes = try SettingsFile.contents(of: file)
        let root: JSON5Value
        do throws(JSON5Error) {
            root = try JSON5Reader.read(bytes)
        } catch {
            throw ConfigurationError(
                origin: .file(file, line: error.place.line, column: error.place.column), path: "",
                reason: error.reason)
        }
        try SettingsTree(file: file).apply(root, to: &self)
    }

    private mutating func apply(
        variable name: String, _ value: String
    ) throws(ConfigurationError) {
        guard name.hasPrefix("LENTICULAR_"), !Self.otherVariables.contains(name) else { return }
        let origin = ConfigurationError.Origin.environment(name)
        guard let setting = Setting.byEnvironmentName[name] else {
            throw ConfigurationError(
                origin: origin, path: "", reason: "expected the name of a setting's variable")
        }
        let texts =
            value.isEmpty ? [] : value.split(separator: ",", omittingEmptySubsequences: false)
        try setting.apply(value, list: texts.map(String.init), to: &self, from: origin)
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
            try setting.apply(value, list: list, to: &self, from: .commandLine)
        }
    }

    private mutating func readTokenFile() throws(ConfigurationError) {
        let file = metrics.bearerTokenFile
        if file.isEmpty { return }
        let path = "metrics.bearerTokenFile"
        guard metrics.bearerToken.isEmpty else {
            throw ConfigurationError(
                origin: .together, path: path,
                reason: "expected only one of metrics.bearerToken and metrics.bearerTokenFile")
        }
        var bytes = try SettingsFile.contents(of: file, path: path)
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        metrics.bearerToken = Secret(String(decoding: bytes, as: UTF8.self))
        guard MetricsSettings.isToken(metrics.bearerToken) else {
            throw ConfigurationError(
                origin: .fileAsWhole(file), path: path,
                reason: "expected at least 16 letters, digits and -._~+/=, and nothing else")
        }
    }

    /// Refuses settings that exclude each other.
    private func checkTogether() throws(ConfigurationError) {
        func require(
            _ holds: Bool, _ path: String, _ reason: String
        ) throws(ConfigurationError) {
            if !holds {
                throw ConfigurationError(origin: .together, path: path, reason: reason)
            }
        }
        try require(
            tls.certificateFile.isEmpty == tls.privateKeyFile.isEmpty,
            tls.certificateFile.isEmpty ? "tls.certificateFile" : "tls.privateKeyFile",
            "expected both tls.certificateFile and tls.privateKeyFile, or neither")
        try require(
            s3.bucket.isEmpty || !s3.endpoint.isEmpty, "s3.endpoint",
            "expected the store's address beside s3.bucket")
        try require(
            s3.bucket.isEmpty || !s3.credentialsFile.isEmpty, "s3.credentialsFile",
            "expected a file with the store's keys beside s3.bucket")
        try require(
            limits.recordBytesMax <= limits.pageBytesMax, "limits.pageBytesMax",
            "expected at least limits.recordBytesMax")
        try require(
            http.targetBytesMax <= http.headerBytesMax, "http.headerBytesMax",
            "expected at least http.targetBytesMax")
    }
}
