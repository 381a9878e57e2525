import Accounts
import CloudModel
import Configuration
import Control
import Cryptography
import Files
import Mail
import Network
import Storage

/// Hands letters to a mail server.
struct ServerSender: LetterSender {
    /// Why a letter is still here.
    enum Failure: Error, CustomStringConvertible {
        case notNow(String)
        /// An address beyond the common part of what mail servers take.
        case addressUnknown

        var description: String {
            switch self {
            case .notNow(let reason): "the mail server: \(reason)"
            case .addressUnknown: "no mail server takes such an address"
            }
        }
    }

    private static let identifierBytes = 16

    private let server: MailServer
    private let from: MailAddress
    private let clock: Clock
    private let random: RandomSource

    /// - Throws: `CommandFailure` for settings that do not go together, or files that cannot be used.
    init(
        _ settings: MailSettings, clock: Clock, random: RandomSource
    ) throws(CommandFailure) {
        guard !settings.host.isEmpty else {
            throw CommandFailure("mail.host: expected a host for mail.sender \"smtp\"")
        }
        guard let from = MailAddress(settings.from) else {
            throw CommandFailure("mail.from: no mail server takes such an address")
        }
        guard let security = MailSecurity(rawValue: settings.security.rawValue) else {
            throw CommandFailure("mail.security: unknown")
        }
        let login = try Self.login(settings)
        guard login == nil || security != .none else {
            throw CommandFailure("mail.security: a password goes over TLS alone")
        }
        let trust: TLSTrust
        do {
            trust = try TLSTrust(authoritiesFile: settings.authoritiesFile, spoken: .unnamed)
        } catch {
            throw CommandFailure("mail.authoritiesFile: \(error)")
        }
        let host = from.description.split(separator: "@").last.map { String($0) } ?? "localhost"
        server = MailServer(
            host: settings.host, port: UInt16(clamping: settings.port), security: security,
            login: login, name: host, trust: trust)
        self.from = from
        self.clock = clock
        self.random = random
    }

    func reaches(_ kind: Address.Kind) -> Bool { kind == .email }

    func send(_ text: LetterText, to address: Address) throws {
        guard let to = MailAddress(address.text) else { throw Failure.addressUnknown }
        let identifier =
            text.identifier ?? Hexadecimal.encode(random.bytes(Self.identifierBytes))
        let outcome = server.send(
            MailMessage(
                from: from, to: to, subject: text.subject, text: text.body,
                identifier: identifier, seconds: clock.now() / 1_000))
        guard outcome == .accepted else { throw Failure.notNow("\(outcome)") }
    }

    /// Why the mail server takes nothing now; nil where it greets.
    func obstacle() -> String? { server.obstacle() }

    private static func login(_ settings: MailSettings) throws(CommandFailure) -> MailLogin? {
        guard !settings.user.isEmpty else { return nil }
        guard !settings.passwordFile.isEmpty else {
            throw CommandFailure("mail.passwordFile: expected a file beside mail.user")
        }
        let bytes: [UInt8]
        do {
            bytes = try FileSystem.contents(of: settings.passwordFile, bytesMax: 4_096)
        } catch {
            throw CommandFailure("\(error)")
        }
        let password = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
        return MailLogin(user: settings.user, password: String(decoding: password, as: UTF8.self))
    }
}
