import Testing

@testable import Configuration

/// Loads a configuration from the text of a file, variables and flags.
func load(
    _ text: String? = nil, environment: [String: String] = [:],
    flags: [(path: String, value: String)] = []
) throws -> ServerConfiguration {
    let file = try text.map { try TemporaryFile($0) }
    return try withExtendedLifetime(file) {
        try ServerConfiguration.load(file: file?.path, environment: environment, flags: flags)
    }
}

/// The error of a configuration that must be refused.
func refusal(
    _ text: String? = nil, environment: [String: String] = [:],
    flags: [(path: String, value: String)] = []
) throws -> ConfigurationError {
    try #require(throws: ConfigurationError.self) {
        try load(text, environment: environment, flags: flags)
    }
}

@Suite("Loading")
struct LoadingTests {
    @Test("Nothing said gives the defaults")
    func defaults() throws {
        #expect(try load() == ServerConfiguration())
        #expect(try load("{}") == ServerConfiguration())
        #expect(try load("{ http: {}, log: {} }") == ServerConfiguration())
        #expect(ServerConfiguration().data == "./data")
        #expect(ServerConfiguration().listen == ["127.0.0.1:8080"])
    }

    @Test("Flags win over the environment, the environment over the file, the file over defaults")
    func precedence() throws {
        let file = "{ http: { idleSecondsMax: 10, heldPollsPerUserMax: 10, connectionsMax: 11 } }"
        let environment = [
            "LENTICULAR_HTTP_IDLE_SECONDS_MAX": "20",
            "LENTICULAR_HTTP_HELD_POLLS_PER_USER_MAX": "20",
        ]
        let configuration = try load(
            file, environment: environment, flags: [("http.idleSecondsMax", "30")])
        #expect(configuration.http.idleSecondsMax == 30)
        #expect(configuration.http.heldPollsPerUserMax == 20)
        #expect(configuration.http.connectionsMax == 11)
        #expect(configuration.http.drainSecondsMax == 30)
    }

    @Test("A list is replaced, never added to; its flag comes once for each element")
    func lists() throws {
        let file = "{ listen: ['127.0.0.1:1', 'unix:/run/a,b'] }"
        #expect(try load(file).listen == ["127.0.0.1:1", "unix:/run/a,b"])
        let environment = ["LENTICULAR_LISTEN": "0.0.0.0:80,[::]:80"]
        #expect(try load(file, environment: environment).listen == ["0.0.0.0:80", "[::]:80"])
        let flags = [(path: "listen", value: "localhost:0"), (path: "listen", value: "unix:x,y")]
        #expect(
            try load(file, environment: environment, flags: flags).listen
                == ["localhost:0", "unix:x,y"])
        let proxies = try load(environment: ["LENTICULAR_HTTP_TRUSTED_PROXIES": "10.0.0.0/8,::1"])
        #expect(proxies.http.trustedProxies.map(\.description) == ["10.0.0.0/8", "::1"])
        let local = try load("{ http: { trustedProxies: ['unix', '127.0.0.1'] } }").http
            .trustedProxies
        for (address, isTrusted) in [("unix", true), ("127.0.0.1", true), ("127.0.0.2", false)] {
            #expect(local.contains { $0.contains(address) } == isTrusted, "\(address)")
        }
        #expect(!proxies.http.trustedProxies.contains { $0.contains("unix") })
        #expect(
            try load(environment: ["LENTICULAR_HTTP_TRUSTED_PROXIES": ""]).http.trustedProxies == []
        )
    }

    @Test("An unknown key is named with the ones that exist there")
    func unknownKeys() throws {
        let nested = try refusal("{\n http: { idleSeconds: 1 } }")
        #expect(nested.path == "http.idleSeconds")
        #expect(nested.reason.hasPrefix("unknown key; expected one of bodyBytesMax, "))
        #expect(nested.description.contains(", line 2, column 10: http.idleSeconds: unknown key"))
        #expect(try refusal("{ htpp: {} }").path == "htpp")
        #expect(
            try refusal("{ htpp: {} }").reason.contains("data, listen, publicBaseURL, http, tls"))
        #expect(try refusal("{ '': {} }").path == "")
        #expect(try refusal("{ 'http.idleSecondsMax': 1 }").path == "http.idleSecondsMax")
        #expect(try refusal(flags: [("http.idle", "1")]).path == "http.idle")
    }

    /// What is said of variables that are no settings.
    private func warnings(_ environment: [String: String]) throws -> [String] {
        let loaded = try LoadedConfiguration(file: nil, environment: environment, flags: [])
        #expect(loaded.values == ServerConfiguration())
        return loaded.warnings
    }

    @Test("A variable that is no setting is warned about and stops nothing, as clusters set such")
    func unknownVariables() throws {
        let cluster = [
            "LENTICULAR_PORT": "tcp://10.0.0.1:8080", "LENTICULAR_SERVICE_HOST": "10.0.0.1",
            "LENTICULAR_PORT_8080_TCP_ADDR": "10.0.0.1", "LENTICULAR_SERVICE_PORT": "8080",
            "LENTICULAR_": "",
        ]
        let told = try warnings(cluster)
        #expect(told.count == cluster.count)
        #expect(
            told.contains(
                "environment variable LENTICULAR_PORT: no setting has it, so it says nothing"))
        #expect(told.allSatisfy { !$0.contains("10.0.0.1") && !$0.contains("meant") })
        let others = ["LENTICULAR_CONTAINER": "1", "LENTICULAR_TESTDATA": "/x", "PATH": "/bin"]
        #expect(try warnings(others).isEmpty)
    }

    @Test(
        "A variable that is nearly a setting's is warned about with the setting's",
        arguments: [
            ("LENTICULAR_LISTN", "LENTICULAR_LISTEN"),
            ("LENTICULAR_HTTP_IDLESECONDSMAX", "LENTICULAR_HTTP_IDLE_SECONDS_MAX"),
            ("LENTICULAR_LIMIT_WAITING_MAX", "LENTICULAR_LIMITS_WAITING_MAX"),
            ("LENTICULAR_DTAA", "LENTICULAR_DATA"),
        ])
    func misspelledVariables(variable: String, setting: String) throws {
        #expect(
            try warnings([variable: "1"]) == [
                "environment variable \(variable): no setting has it; is \(setting) meant?"
            ])
    }

    @Test("It is known where each setting was said, the last place counting")
    func origins() throws {
        let file = try TemporaryFile("{\n  data: '/one', log: { level: 'error' } }")
        let environment = ["LENTICULAR_DATA": "/two", "LENTICULAR_LOG_FORMAT": "text"]
        func origin(_ path: String, _ environment: [String: String] = [:]) throws -> String {
            try LoadedConfiguration(
                file: file.path, environment: environment, flags: [("listen", "unix:/x")]
            ).origin(of: path)
        }
        #expect(try origin("data") == "data from \(file.path), line 2, column 3")
        #expect(
            try origin("data", environment) == "data from environment variable LENTICULAR_DATA")
        #expect(
            try origin("log.level", environment) == "log.level from \(file.path), line 2, column 24"
        )
        #expect(try origin("listen") == "listen from command line")
        #expect(try origin("http.gzip") == "the default of http.gzip")
    }

    @Test("A section is an object, and so is the file")
    func sections() throws {
        #expect(try refusal("{ http: 1 }").path == "http")
        #expect(try refusal("[]").reason == "expected an object of settings")
        #expect(try refusal("{ data: {} }").path == "data")
    }

    @Test("A file that is not JSON5 is refused with its line and column")
    func syntax() throws {
        let error = try refusal("{\n  data: './x'\n  listen: []\n}")
        guard case .file(_, let line, let column) = error.origin else {
            Issue.record("no place: \(error)")
            return
        }
        #expect((line, column) == (3, 3))
        #expect(error.reason == "expected ',' or '}'")
    }

    @Test("A file that cannot be read is named")
    func unreadable() throws {
        let error = try #require(throws: ConfigurationError.self) {
            try ServerConfiguration.load(file: "/nowhere/x.json5", environment: [:], flags: [])
        }
        #expect(error.origin == .fileAsWhole("/nowhere/x.json5"))
        #expect(error.reason.hasPrefix("expected a readable file: "))
        #expect(throws: ConfigurationError.self) {
            try ServerConfiguration.load(file: "/", environment: [:], flags: [])
        }
        let large = String(repeating: " ", count: SettingsFile.bytesMax)
        #expect(try load(large.dropLast(2) + "{}") == ServerConfiguration())
        #expect(try refusal(large + "{}").reason == "expected at most 1048576 bytes")
    }

    @Test(
        "Settings that exclude each other are refused",
        arguments: [
            ("{ tls: { certificateFile: 'c' } }", "tls.privateKeyFile"),
            ("{ tls: { privateKeyFile: 'k' } }", "tls.certificateFile"),
            (
                "{ limits: { recordBytesMax: 1048577, pageBytesMax: 1048576 } }",
                "limits.pageBytesMax"
            ),
            ("{ s3: { bucket: 'abc', credentialsFile: 'f' } }", "s3.endpoint"),
            ("{ s3: { bucket: 'abc', endpoint: 'http://a' } }", "s3.credentialsFile"),
            (
                "{ metrics: { bearerToken: '0123456789abcdef', bearerTokenFile: 'f' } }",
                "metrics.bearerTokenFile"
            ),
        ])
    func together(text: String, path: String) throws {
        let error = try refusal(text)
        #expect(error.path == path)
        #expect(error.origin == .together)
    }

    @Test("The metrics' token may stand in a file of its own")
    func tokenFile() throws {
        let file = try TemporaryFile("0123456789abcdef\n")
        let configuration = try load("{ metrics: { bearerTokenFile: '\(file.path)' } }")
        #expect(configuration.metrics.bearerToken.revealed == "0123456789abcdef")
        for wrong in ["", "short", "0123456789 abcdef", "0123456789abcdef\nx"] {
            let file = try TemporaryFile(wrong)
            let error = try refusal("{ metrics: { bearerTokenFile: '\(file.path)' } }")
            #expect(error.path == "metrics.bearerTokenFile")
        }
        #expect(
            try refusal("{ metrics: { bearerTokenFile: '/nowhere/token' } }").path
                == "metrics.bearerTokenFile")
    }
}
