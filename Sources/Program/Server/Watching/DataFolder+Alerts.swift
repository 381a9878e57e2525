import Accounts
import Administration
import CloudModel
import Configuration
import Control
import Cryptography
import Delivery
import HTTPClient
import Storage
import Telemetry

extension DataFolder {
    /// Each request has a deadline before this.
    private static let postSecondsMax = 60

    /// Tells of an alert once, by mail and to its URL, and waits until both are done.
    ///
    /// - Throws: `CommandFailure`, which says what has not taken it.
    package func tell(_ message: AlertMessage, by rule: AlertRule) throws {
        let identifier = UniqueID.random(random)
        var failures: [String] = []
        for way in [AlertWays.mail, .url] where rule.ways.contains(way) {
            do { try tell(message, by: rule, through: way, as: identifier) } catch {
                failures.append("\(error)")
            }
        }
        guard failures.isEmpty else {
            throw CommandFailure("alert \(rule.name) not told: \(failures.joined(separator: "; "))")
        }
    }

    /// Tells of an alert by mail or to its URL, and waits until that is done.
    ///
    /// - Parameter identifier: the same for all that tell of the same.
    /// - Throws: what says in one line why it was not taken.
    func tell(
        _ message: AlertMessage, by rule: AlertRule, through way: AlertWays,
        as identifier: String
    ) throws {
        guard way == .mail else { return try post(message, by: rule, as: identifier) }
        var letter = LetterText(subject: message.subject, body: message.text)
        letter.identifier = identifier
        do { try mail(letter, to: try AddressFormat.email(rule.mail)) } catch {
            throw CommandFailure("mail: \(error)")
        }
    }

    /// Hands a letter on by itself, and waits until that is done.
    ///
    /// - Throws: what says in one line why it could not.
    func mail(_ letter: LetterText, to address: Address) throws {
        let senders = try LetterSenders(configuration, clock: clock, random: random)
        defer { senders.stop() }
        guard senders.reaches(.email) else { throw CommandFailure("mail.sender is none") }
        try senders.send(letter, to: address)
    }

    private func post(
        _ message: AlertMessage, by rule: AlertRule, as identifier: String
    ) throws {
        guard let url = TargetURL(rule.url) else { throw CommandFailure("its URL is none") }
        let traffic = try OutgoingTraffic(configuration)
        defer { traffic.stop() }
        let body = message.json
        let signature = WebhookSignature.headers(
            identifier: identifier, seconds: clock.now() / 1_000, body: body,
            keys: rule.signingKeys(secrets))
        guard let signature else { throw CommandFailure("there is no key to sign it by") }
        let request = OutgoingRequest(
            method: "POST", url: url, namedBy: .operators,
            headers: [
                ("Content-Type", "application/json"),
                ("User-Agent", "lenticular/\(ProgramVersion.text)"),
            ] + signature, body: body, isRepeatable: false)
        let answer: OutgoingAnswer
        // Only the host is said: what follows may be a secret.
        do {
            answer = try traffic.requests.answer(to: request, withinSeconds: Self.postSecondsMax)
        } catch { throw CommandFailure("\(url.origin.host): \(error)") }
        guard (200..<300).contains(answer.status) else {
            throw CommandFailure("\(url.origin.host) answered with \(answer.status)")
        }
    }
}

extension AlertRule {
    /// Names what is due of it, as long as it is due and in whichever process.
    var identifier: String {
        UniqueID.made(
            from: SHA256.digest(Array("alert/\(name)/\(madeAt)/\(telling.dueAt)".utf8)))
    }
}
