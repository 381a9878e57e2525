import Testing

@testable import Configuration

/// Every setting by the path of its property, found by reflection.
private func properties(of value: Any, under path: String = "") -> [String: String] {
    var found: [String: String] = [:]
    for child in Mirror(reflecting: value).children {
        let name = (path.isEmpty ? "" : path + ".") + (child.label ?? "")
        if Setting.sections.contains(where: { $0.name == name }) {
            found.merge(properties(of: child.value, under: name)) { $1 }
        } else {
            found[name] = (child.value as? Secret)?.revealed ?? "\(child.value)"
        }
    }
    return found
}

private let settings = Setting.sections.flatMap(\.settings)

@Suite("Settings")
struct SettingTests {
    @Test(
        "Every property of the configuration is declared as a setting of its name, and the reverse")
    func complete() {
        #expect(Set(properties(of: ServerConfiguration()).keys) == Set(settings.map(\.path)))
        #expect(Setting.byPath.count == settings.count)
        #expect(Setting.byEnvironmentName.count == settings.count)
        for section in Setting.sections where !section.name.isEmpty {
            #expect(section.settings.allSatisfy { $0.path == "\(section.name).\($0.key)" })
        }
    }

    @Test("Every setting is explained in sentences, and numbers have their unit in the name")
    func documented() {
        let units = [
            "bytes": "Bytes", "seconds": "Seconds", "days": "Days", "KiB": "KiB", "pages": "Pages",
        ]
        for setting in settings {
            #expect(setting.documentation.hasSuffix("."), "\(setting.path)")
            #expect(setting.documentation.count > 20, "\(setting.path)")
            for (unit, word) in units where setting.allowed.contains("whole number of \(unit) ") {
                #expect(setting.key.lowercased().contains(word.lowercased()), "\(setting.path)")
            }
        }
    }

    @Test("A new configuration has quotas, which a file, a variable or an option may lift")
    func quotas() throws {
        var configuration = ServerConfiguration()
        let quotas = settings.filter { $0.path.hasSuffix("QuotaBytes") }
        #expect(quotas.map(\.path) == ["limits.userQuotaBytes", "limits.publicQuotaBytes"])
        #expect(configuration.limits.userQuotaBytes >= 1 << 30)
        #expect(configuration.limits.publicQuotaBytes >= configuration.limits.userQuotaBytes)
        for quota in quotas {
            try quota.apply("0", list: [], to: &configuration, from: .commandLine)
        }
        #expect(configuration.limits.userQuotaBytes == 0)
        #expect(configuration.limits.publicQuotaBytes == 0)
    }

    @Test("A setting of a number reaches its own property, and only that")
    func numbersReachTheirProperty() throws {
        let defaults = properties(of: ServerConfiguration())
        for setting in settings {
            guard let range = setting.range else { continue }
            var configuration = ServerConfiguration()
            let value = range.upperBound
            try setting.apply("\(value)", list: [], to: &configuration, from: .commandLine)
            let changed = properties(of: configuration).filter { defaults[$0.key] != $0.value }
            #expect(changed == [setting.path: "\(value)"])
        }
    }

    @Test("Numbers out of range and values of other types are refused with the setting's path")
    func numbersRefused() throws {
        for setting in settings {
            guard let range = setting.range else { continue }
            let wrong = [
                "\(range.lowerBound - 1)", "\(range.upperBound + 1)", "-1", "1.0", "1e3", "'1'",
                "true", "null", "[1]", "{}", "9223372036854775808", "1.5",
            ]
            for value in wrong { try expectRefused(setting, value) }
            for value in ["", "x", "1.0", " 1", "0x10", "\(range.upperBound + 1)", "-1", "1,2"] {
                try expectRefusedText(setting, value)
            }
            #expect(range.contains(Int(setting.written(of: ServerConfiguration())) ?? -1))
            var configuration = ServerConfiguration()
            for bound in [range.lowerBound, range.upperBound] {
                try setting.apply("\(bound)", list: [], to: &configuration, from: .commandLine)
            }
        }
    }

    /// Texts by setting: some that are allowed and some that are not.
    private static let texts: [String: (allowed: [String], refused: [String])] = [
        "storage.engine": (["sqlite", "postgres"], ["", "SQLite", "postgresql"]),
        "storage.postgresURL": (
            [
                "", "postgresql://sync@db.example/sync",
                "postgresql://sync@/sync?host=/run/postgresql",
            ], ["db.example", "http://db.example/sync", "postgresql://sync:word@db.example/sync"]
        ),
        "storage.postgres.standbyURL": (
            ["", "postgresql://sync@standby.example/sync"],
            ["standby.example", "postgresql://sync:word@standby.example/sync"]
        ),
        "storage.postgres.listenURL": (
            ["", "postgresql://sync@db.example/sync"],
            ["db.example", "postgresql://sync:word@db.example/sync"]
        ),
        "storage.postgres.passwordFile": (["", "/etc/lenticular/postgres"], ["a\\0b"]),
        "accounts.signUp": (["off", "invitation", "open"], ["", "Open", "on", "open\\0"]),
        "mail.sender": (["none", "log", "program", "smtp"], ["", "SMTP", "Log"]),
        "mail.host": (["", "mail.example.org", "[::1]"], ["a b", "mail:25"]),
        "mail.security": (["starttls", "implicit", "none"], ["", "tls"]),
        "mail.user": (["", "sync"], ["a\\0b"]),
        "mail.passwordFile": (["", "/etc/lenticular/mail"], ["a\\0b"]),
        "mail.authoritiesFile": (["", "/etc/ssl/own.pem"], ["a\\0b"]),
        "mail.program": (["", "/usr/sbin/sendmail"], ["a\\0b"]),
        "mail.from": (
            ["sync@example.org"],
            ["", "sync", "a@b@c", "a b@c", "é@example.org", "a@b,c@d", "<a@b>", "a@b\\n"]
        ),
        "textMessages.sender": (["none", "log", "webhook"], ["", "smtp", "Log"]),
        "textMessages.url": (
            ["", "https://texts.example/send", "http://127.0.0.1:1/"], ["texts.example", "ftp://a"]
        ),
        "textMessages.keyFile": (["", "/etc/lenticular/texts.key"], ["a\\0b"]),
        "telemetry.otlpEndpoint": (
            ["", "http://127.0.0.1:4318", "https://collector.example"],
            ["collector.example", "ftp://a"]
        ),
        "console.listen": (
            ["", "127.0.0.1:9465", "[::1]:0", "unix:/run/x.sock"], ["9465", "host", ":80", "*:80"]
        ),
        "pages.name": (
            ["", "Tea & Sync", String(repeating: "é", count: 64)],
            [String(repeating: "x", count: 65)]
        ),
        "pages.iconFile": (["", "/etc/lenticular/icon.png"], ["a\\0b"]),
        "pages.textsFolder": (["", "/etc/lenticular/texts"], ["a\\0b"]),
        "pages.language": (["en", "pt-BR"], [""]),
        "data": (["/var/lib/x", "data"], ["", "a\\0b"]),
        "publicBaseURL": (
            ["", "https://notes.example", "http://10.0.0.1:8080", "https://[::1]:8443"],
            [
                "notes.example", "https://", "https://a/", "https://a/b", "ftp://a", "https://a:",
                "https://a:x", "https://a b", "https://a?b", "https://a:99999", "HTTPS://",
                "http:///",
            ]
        ),
        "assets.baseURL": (
            ["", "https://files.example", "http://10.0.0.1:8080"],
            ["files.example", "https://", "https://a/", "ftp://a", "https://a b", "https://a?b"]
        ),
        "assets.keyFile": (["", "/etc/lenticular/assets.key"], ["a\\0b"]),
        "security.keyFile": (["", "/etc/lenticular/secrets.key"], ["a\\0b"]),
        "outgoing.applePushURL": (["https://a.example:2197"], ["", "a.example", "https://a/b"]),
        "outgoing.applePushDevelopmentURL": (["http://127.0.0.1:1"], ["", "a", "https://a?b"]),
        "outgoing.authoritiesFile": (["", "/a.pem"], ["a\\0b"]),
        "outgoing.contact": (
            ["", "mailto:a@b.example", "https://b.example/"],
            ["a@b.example", "mailto:", "http://b.example"]
        ),
        "s3.endpoint": (
            ["", "https://s3.example", "http://127.0.0.1:9000"],
            ["s3.example", "https://", "https://a/b", "ftp://a", "https://a?b"]
        ),
        "s3.region": (["us-east-1", "garage"], ["", "US", "a b", "a/b"]),
        "backups.to": (
            ["", "/backups", "s3://bucket", "s3://bucket/one/two"],
            ["backups", "s3://", "s3://Bucket", "s3://bucket/", "s3://bucket/../x", "ftp://x"]
        ),
        "backups.keyFile": (["", "/etc/lenticular/backup.key"], ["a\0b"]),
        "s3.bucket": (["", "abc", "a.b-c0"], ["ab", "Abc", "a_b", "a/b", "a b c"]),
        "s3.prefix": (
            ["", "one/", "one/two_3.x/"], ["one", "/", "/one/", "one//two/", "../", "A/", "a b/"]
        ),
        "s3.addressing": (["path", "host"], ["", "Path", "virtual"]),
        "s3.credentialsFile": (["", "/etc/lenticular/s3-keys"], ["a\\0b"]),
        "s3.authoritiesFile": (["", "/a.pem"], ["a\\0b"]),
        "s3.downloads": (["served", "redirected"], ["", "direct"]),
        "s3.backups": (["listed", "copied"], ["", "none"]),
        "http.gzip": (["remote", "always", "never"], ["", "Remote", "on"]),
        "tls.certificateFile": (["/a.pem"], ["a\\0b"]),
        "tls.privateKeyFile": (["/a.pem"], ["a\\0b"]),
        "log.format": (["auto", "json", "text"], ["", "JSON", "xml"]),
        "log.level": (["info", "warning", "error"], ["", "debug", "trace"]),
        "log.clientAddresses": (["failedSignIns", "all"], ["", "none", "true"]),
        "metrics.listen": (
            ["", "127.0.0.1:9464", "[::1]:0", "unix:/run/metrics.sock"], ["9464", "a:", "unix:"]
        ),
        "metrics.bearerToken": (
            ["", "0123456789abcdef", "abcDEF-._~+/=0123"],
            ["short", "0123456789 abcdef", "ééééééééé"]
        ),
        "metrics.bearerTokenFile": (["", "/run/token"], ["a\\0b"]),
    ]

    @Test(
        "Texts that are not allowed and values of other types are refused with the setting's path")
    func textsRefused() throws {
        for setting in settings {
            guard case .text(let put, _) = setting.access else { continue }
            let texts = try #require(Self.texts[setting.path], "\(setting.path)")
            for text in texts.allowed {
                var configuration = ServerConfiguration()
                #expect(put(&configuration, text), "\(setting.path): \(text)")
                #expect(
                    setting.path == "metrics.bearerToken"
                        || setting.written(of: configuration) == "\"\(text)\"")
            }
            for text in texts.refused { try expectRefused(setting, "\"\(text)\"") }
            for value in ["1", "true", "null", "[]", "['x']", "{}"] {
                try expectRefused(setting, value)
            }
            for text in texts.refused where !text.contains("\\") {
                try expectRefusedText(setting, text)
            }
        }
    }

    private static let lists: [String: (allowed: [[String]], refused: [[String]])] = [
        "listen": (
            [
                ["127.0.0.1:8080"], ["[::1]:0", "unix:/run/x.sock"], ["localhost:65535"],
                ["unix:rel"],
                ["a-b.example:1"],
            ],
            [
                [], [""], [":80"], ["80"], ["host"], ["host:"], ["host:65536"], ["host:-1"],
                ["host:x"],
                ["::1:80"], ["[::1]"], ["[x]:80"], ["[127.0.0.1]:80x"], ["unix:"], ["a:1", "a:1"],
                ["ho st:80"], ["http://a:80"], ["*:80"], ["host:+80"], ["host:٣"],
            ]
        ),
        "outgoing.allowedNetworks": (
            [[], ["10.0.0.7"], ["10.0.0.0/8", "fd00::/8"]],
            [[""], ["10.0.0.1/8"], ["localhost"], ["10.0.0.0/33"]]
        ),
        "console.allow": (
            [[], ["10.0.0.7"], ["10.0.0.0/8", "fd00::/8"]],
            [[""], ["10.0.0.1/8"], ["localhost"], ["10.0.0.0/33"]]
        ),
        "http.trustedProxies": (
            [
                [], ["10.0.0.1"], ["10.0.0.0/8", "fd00::/8", "::1"], ["0.0.0.0/0"],
                ["192.168.4.0/22"],
            ],
            [
                [""], ["10.0.0.0/33"], ["10.0.0.1/8"], ["10.0.0"], ["x"], ["::/129"], ["10.0.0.0/"],
                ["10.0.0.0/-1"], ["10.0.0.0/8/8"], ["localhost"], ["10.0.0.0/+8"], ["fd01::/8"],
            ]
        ),
    ]

    @Test(
        "Lists that are not allowed and values of other types are refused with the setting's path")
    func listsRefused() throws {
        for setting in settings {
            guard case .texts(let put, let get) = setting.access else { continue }
            let lists = try #require(Self.lists[setting.path], "\(setting.path)")
            for list in lists.allowed {
                var configuration = ServerConfiguration()
                #expect(put(&configuration, list), "\(setting.path): \(list)")
                #expect(get(configuration) == list)
            }
            for list in lists.refused { try expectRefused(setting, "\(list)") }
            for value in ["1", "'x'", "null", "[1]", "[null]", "{}", "[['10.0.0.1']]"] {
                try expectRefused(setting, value)
            }
        }
    }

    @Test("Every setting has a table of bad values in these tests")
    func covered() {
        for setting in settings {
            #expect(
                setting.range != nil || Self.texts[setting.path] != nil
                    || Self.lists[setting.path] != nil, "\(setting.path)")
        }
    }

    /// Expects a value in a file to be refused with the setting's path and what is allowed.
    private func expectRefused(_ setting: Setting, _ value: String) throws {
        let text = setting.path.split(separator: ".").reversed().reduce(value) {
            "{ \($1): \($0) }"
        }
        let error = try refusal(text)
        #expect(error.path == setting.path, "\(text)")
        #expect(error.reason == "expected \(setting.allowed)", "\(text)")
    }

    /// Expects a value of a variable and of a flag to be refused likewise.
    private func expectRefusedText(_ setting: Setting, _ value: String) throws {
        let byVariable = try refusal(environment: [setting.environmentName: value])
        #expect(byVariable.path == setting.path, "\(setting.path): \(value)")
        #expect(byVariable.origin == .environment(setting.environmentName))
        let byFlag = try refusal(flags: [(setting.path, value)])
        #expect(byFlag.path == setting.path, "\(setting.path): \(value)")
        #expect(byFlag.reason == "expected \(setting.allowed)")
    }

    @Test(
        "Variables are named after section and key in upper snake case",
        arguments: [
            ("data", "LENTICULAR_DATA"), ("listen", "LENTICULAR_LISTEN"),
            ("publicBaseURL", "LENTICULAR_PUBLIC_BASE_URL"),
            ("limits.userRequestsPerSecondMax", "LENTICULAR_LIMITS_USER_REQUESTS_PER_SECOND_MAX"),
            ("tls.certificateFile", "LENTICULAR_TLS_CERTIFICATE_FILE"),
            (
                "storage.sqlite.writerCacheKiB",
                "LENTICULAR_STORAGE_SQLITE_WRITER_CACHE_KIB"
            ),
            ("tokens.webAuthStaySecondsMax", "LENTICULAR_TOKENS_WEB_AUTH_STAY_SECONDS_MAX"),
        ])
    func environmentNames(path: String, name: String) {
        #expect(Setting.byPath[path]?.environmentName == name)
    }

    @Test("A secret prints as dots, whatever prints it")
    func secret() {
        var configuration = ServerConfiguration()
        configuration.metrics.bearerToken = Secret("0123456789abcdef")
        var dumped = ""
        dump(configuration, to: &dumped)
        let shown = ["\(configuration)", String(reflecting: configuration), dumped]
        for text in shown { #expect(!text.contains("0123456789abcdef")) }
        #expect("\(Secret("x"))" == "••••••••")
        #expect("\(Secret(""))" == "")
        #expect(Setting.byPath["metrics.bearerToken"]?.written(of: configuration) == "\"••••••••\"")
    }

    @Test("A range holds the addresses that share its bits, IPv4 in its IPv6 form too")
    func ranges() throws {
        let ten = try #require(AddressRange("10.64.0.0/10"))
        #expect(ten.contains("10.64.0.0") && ten.contains("10.127.255.255"))
        #expect(ten.contains("::ffff:10.100.1.2"))
        #expect(!ten.contains("10.128.0.0") && !ten.contains("::1") && !ten.contains("x"))
        let six = try #require(AddressRange("2001:db8::/33"))
        #expect(six.contains("2001:db8:7fff::1") && !six.contains("2001:db8:8000::1"))
        #expect(!six.contains("10.0.0.1"))
        #expect(try #require(AddressRange("::1")).contains("0:0:0:0:0:0:0:1"))
        #expect(try #require(AddressRange("0.0.0.0/0")).contains("255.1.2.3"))
    }
}
