import Configuration
import Server

extension LoadedConfiguration {
    /// What the file, the environment and the options of a command say.
    ///
    /// - Throws: `ConfigurationError`.
    init(
        for invocation: Invocation, in process: ProcessEnvironment
    ) throws(ConfigurationError) {
        var flags: [(path: String, value: String)] = []
        if let data = invocation.value("data") { flags.append(("data", data)) }
        if let folder = invocation.addressedFolder { flags.append(("data", folder)) }
        flags += invocation.values("listen").map { ("listen", $0) }
        if let format = invocation.value("log-format") { flags.append(("log.format", format)) }
        try self.init(
            file: invocation.value("config"), environment: process.environment, flags: flags)
        values.data = process.absolute(values.data)
    }
}

extension ServerConfiguration {
    /// What the file, the environment and the options of a command say.
    ///
    /// - Throws: `ConfigurationError`.
    static func load(
        for invocation: Invocation, in process: ProcessEnvironment
    ) throws(ConfigurationError) -> ServerConfiguration {
        try LoadedConfiguration(for: invocation, in: process).values
    }
}
