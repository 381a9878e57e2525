/// Loading.
extension ServerConfiguration {
    /// Puts together what the file, the environment and the command line say, the later winning.
    ///
    /// - Parameters and errors: those of `LoadedConfiguration`.
    package static func load(
        file: String?, environment: [String: String], flags: [(path: String, value: String)]
    ) throws(ConfigurationError) -> ServerConfiguration {
        try LoadedConfiguration(file: file, environment: environment, flags: flags).values
    }

    mutating func readTokenFile() throws(ConfigurationError) {
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
    func checkTogether() throws(ConfigurationError) {
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
            storage.engine != .postgres || !storage.postgresURL.isEmpty, "storage.postgresURL",
            "expected the database's address beside storage.engine = postgres")
        try require(
            limits.recordBytesMax <= limits.pageBytesMax, "limits.pageBytesMax",
            "expected at least limits.recordBytesMax")
    }
}
