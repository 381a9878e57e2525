import Accounts
import CloudModel
import Configuration
import Cryptography
import Storage

/// Hands each letter to what carries it: mail or text messages.
final class LetterSenders: LetterSender {
    private let mail: (any LetterSender)?
    private let texts: (any LetterSender)?

    /// What the settings name.
    ///
    /// - Throws: `CommandFailure` when the settings cannot be used.
    init(_ configuration: ServerConfiguration, clock: Clock, random: RandomSource) throws {
        let settings = configuration.mail
        mail =
            switch settings.sender {
            case .none: nil
            case .log: PrintedLetters()
            case .program: ProgramSender(program: settings.program, from: settings.from)
            case .smtp: try ServerSender(settings, clock: clock, random: random)
            }
        texts =
            switch configuration.textMessages.sender {
            case .none: nil
            case .log: PrintedLetters()
            case .webhook: try TextMessageSender(configuration, clock: clock, random: random)
            }
    }

    /// Whether nothing carries anything.
    var isEmpty: Bool { mail == nil && texts == nil }

    /// Ends what posts.
    func stop() { (texts as? TextMessageSender)?.stop() }

    func reaches(_ kind: Address.Kind) -> Bool { carrier(of: kind) != nil }

    func send(_ text: LetterText, to address: Address) throws {
        // Asked before, so that there is one.
        try carrier(of: address.kind)?.send(text, to: address)
    }

    /// Why the mail server takes nothing now; nil where it greets, or another way is set.
    func mailObstacle() -> String? { (mail as? ServerSender)?.obstacle() }

    private func carrier(of kind: Address.Kind) -> (any LetterSender)? {
        switch kind {
        case .email: mail
        case .phone: texts
        }
    }
}

extension ServerConfiguration {
    /// What can be written to.
    var letterKinds: Set<Address.Kind> {
        var kinds: Set<Address.Kind> = []
        if mail.sender != .none { kinds.insert(.email) }
        if textMessages.sender != .none { kinds.insert(.phone) }
        return kinds
    }
}
