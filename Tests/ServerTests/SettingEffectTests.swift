import Accounts
import Configuration
import Foundation
import Testing

@testable import Server

/// That every setting says something to the server: what it is built with changes, or a test is named that shows it.
@Suite("What settings come to")
struct SettingEffectTests {
    /// Where a setting shows that changes nothing here: a file of the tests, and what stands in it.
    private static let shown: [String: (file: String, text: String)] = [
        "data": (operating, "The settings come from the file, then the environment, then"),
        "http.drainSecondsMax": (
            "HTTPTests/LifeTests.swift", "A drain that takes too long closes what is left"
        ),
        "tls.certificateFile": (
            certificates, "SIGHUP brings a new certificate into use, and a bad"
        ),
        "tls.privateKeyFile": (
            certificates, "A certificate that cannot be used stops the start and"
        ),
        "mail.program": (people, "A program gets letters with the address in their head"),
        "mail.from": (people, "A program gets letters with the address in their head"),
        "mail.user": (letters, "$0.user = \"sync\""),
        "mail.passwordFile": (letters, "$0.passwordFile = "),
        "mail.authoritiesFile": (letters, "$0.authoritiesFile = "),
        "textMessages.url": (texts, "A message is posted with number and text, signed as webhooks"),
        "textMessages.keyFile": (texts, "A message is posted with number and text, signed as"),
        "pages.iconFile": (operating, "Name and picture of the server are shown"),
        "pages.textsFolder": ("acceptance/pages.py", "LENTICULAR_PAGES_TEXTS_FOLDER"),
        "retention.upkeepSeconds": (
            "ServerTests/Assets/AssetProcessTests.swift",
            "The upkeep makes missing and torn checksums again without anybody asking"
        ),
        "storage.engine": (
            postgres, "What it acknowledged outlives its own end and the database's"
        ),
        "storage.postgresURL": (postgres, "What it acknowledged outlives its own end and the"),
        "storage.postgres.passwordFile": (postgres, "gets the file's, and another one is refused"),
        "storage.postgres.standbyURL": (postgres, "far.standby?.address == "),
        "storage.postgres.listenURL": (postgres, "far.listening?.address == "),
        "storage.postgres.sessionsMax": (postgres, "far.sessionsMax == 9"),
        "storage.postgres.connectSecondsMax": (postgres, "far.connection.connectSecondsMax == 3"),
        "storage.postgres.answerSecondsMax": (
            postgres, "far.connection.answerMillisecondsMax == 7_000"
        ),
        "assets.freeBytesMin": (
            "ServerTests/Assets/AssetProcessTests.swift",
            "An upload that would leave less on the disk than the floor is refused"
        ),
        "assets.keyFile": (
            "ServerTests/Assets/AssetProcessTests.swift",
            "A key file that holds no key stops the start, and says how to make one"
        ),
        "backups.to": (
            "ServerTests/BackupRoundsTests.swift", "One is made at the start, restores after"
        ),
        "backups.everyMinutes": (
            "ServerTests/BackupRoundsTests.swift", "One is made when it is due, and no sooner"
        ),
        "backups.keyFile": (
            "ServerTests/BackupRoundsTests.swift", "shows nothing without its key"
        ),
        "s3.endpoint": (bucket, "LENTICULAR_S3_ENDPOINT"),
        "s3.region": (bucket, "LENTICULAR_S3_REGION"),
        "s3.bucket": (bucket, "LENTICULAR_S3_BUCKET"),
        "s3.prefix": (bucket, "Two servers on one prefix: the second does not start, until it"),
        "s3.addressing": (
            "AssetStorageTests/S3Tests.swift", "A bucket is named in the path, or before the"
        ),
        "s3.credentialsFile": (bucket, "Keys and settings that cannot be used stop the start"),
        "s3.authoritiesFile": (bucket, "LENTICULAR_S3_AUTHORITIES_FILE"),
        "s3.downloads": (bucket, "Downloads are redirected where that is set"),
        "s3.backups": ("acceptance/s3.py", "LENTICULAR_S3_BACKUPS"),
        "security.keyFile": ("ServerTests/CommandAuditTests.swift", "LENTICULAR_SECURITY_KEY_FILE"),
        "outgoing.allowedNetworks": (outgoing, "What is reached by a name on this machine has to"),
        "outgoing.authoritiesFile": (outgoing, "Certificates that cannot be used stop it, by the"),
        "outgoing.contact": (outgoing, "A contact is an address of mail or of a page"),
        "log.clientAddresses": (
            "ServerTests/OperatingLogTests.swift",
            "Where the operator wants it, lines of requests say where on the network"
        ),
        "console.listen": (console, "The interface is at its own address and at no other"),
        "console.allow": (console, "An address that is not allowed gets nothing"),
        "metrics.listen": (operating, "Metrics are at an address of their own, and at the others"),
        "metrics.bearerToken": (operating, "Metrics are at an address of their own, and at the"),
        "metrics.bearerTokenFile": (
            "ConfigurationTests/LoadingTests.swift",
            "The metrics' token may stand in a file of its own"
        ),
        "telemetry.series": (watching, "Where the settings want nothing counted, nothing is"),
        "telemetry.otlpEndpoint": (watching, "A collector gets each minute once, and what it"),
        "telemetry.slowMilliseconds": (watching, "A slow request has a line in the log"),
    ]

    private static let console = "ServerTests/Operators/ConsoleTests.swift"
    private static let operating = "ServerTests/OperatingServerTests.swift"
    private static let certificates = "ServerTests/OperatingCertificateTests.swift"
    private static let people = "ServerTests/PeopleTests.swift"
    private static let letters = "ServerTests/LetterSenderTests.swift"
    private static let texts = "ServerTests/TextMessageTests.swift"
    private static let bucket = "ServerTests/Assets/AssetsOnS3Tests.swift"
    private static let watching = "ServerTests/WatchingTests.swift"
    private static let postgres = "ServerTests/PostgresServingTests.swift"
    private static let outgoing = "ServerTests/OutgoingTrafficTests.swift"

    /// Texts that are not the defaults.
    private static let others = [
        "listen": "127.0.0.1:1", "publicBaseURL": "https://a.example", "http.gzip": "never",
        "http.trustedProxies": "10.0.0.7", "accounts.signUp": "open", "mail.sender": "none",
        "mail.host": "127.0.0.2", "mail.security": "implicit", "textMessages.sender": "log",
        "pages.name": "Tea", "pages.language": "de", "assets.baseURL": "https://b.example",
        "outgoing.applePushURL": "https://c.example", "log.format": "text", "log.level": "error",
        "outgoing.applePushDevelopmentURL": "https://c.example",
    ]

    /// What a server is built with, as text.
    private static func built(_ variables: [String: String] = [:]) throws -> String {
        let environment = [
            "LENTICULAR_MAIL_SENDER": "smtp", "LENTICULAR_MAIL_HOST": "127.0.0.1",
        ].merging(variables) { $1 }
        let configuration = try LoadedConfiguration(
            file: nil, environment: environment, flags: []
        ).values
        let wire = configuration.wire(tls: nil)
        let work = StoreWork(
            configuration, limits: configuration.serviceLimits, clock: .system,
            log: Log(format: .json, descriptor: -1, clock: .system))
        var parts: [Any] = [
            configuration.serviceLimits, wire.limits, wire.gzip, wire.loopCount,
            wire.isTrustedProxy("10.0.0.7"), configuration.rateLimits, configuration.workers,
            configuration.assetOptions, configuration.accountsSettings, configuration.storeLimits,
            configuration.engineSettings, configuration.requestLimits, configuration.addresses,
            configuration.baseURL,
            SignUpMode(configuration.accounts.signUp), configuration.letterKinds.count,
            configuration.applePushOrigins.map { "\($0)" }.sorted(),
            try configuration.serviceMark(),
            LogFormat(configuration.log.format, isTerminal: false),
            LogLevel(configuration.log.level),
        ]
        parts += Mirror(reflecting: work).children.filter {
            $0.label?.hasSuffix("Milliseconds") == true
        }.map(\.value)
        if configuration.mail.sender == .smtp {
            parts.append(try ServerSender(configuration.mail, clock: .system, random: .system))
        }
        do { _ = try configuration.phrasebooks() } catch { parts.append("\(error)") }
        return parts.map { part in
            var text = ""
            dump(part, to: &text)
            // Where something lies in memory says nothing.
            return text.split(separator: "\n").filter { !$0.contains("0x") }.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    @Test("Every setting changes what the server is built with, or has a test that shows it")
    func all() throws {
        let usual = try Self.built()
        #expect(try Self.built() == usual)
        for setting in Setting.sections.flatMap(\.settings) {
            let values =
                setting.range.map { ["\($0.lowerBound)", "\($0.upperBound)"] }
                ?? Self.others[setting.path].map { [$0] } ?? []
            // Some bounds exclude another setting's default.
            let isSeen = values.contains { value in
                (try? Self.built([setting.environmentName: value])).map { $0 != usual } ?? false
            }
            #expect(isSeen != (Self.shown[setting.path] != nil), "\(setting.path)")
        }
    }

    @Test("The tests that are named to show a setting are there")
    func named() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        for (setting, location) in Self.shown {
            let text = try String(contentsOf: tests.appending(path: location.file), encoding: .utf8)
            #expect(text.contains(location.text), "\(setting): \(location.file)")
        }
    }
}
