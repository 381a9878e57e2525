import Accounts
import Storage

/// The letters of this server, in its words.
package enum LetterTexts {
    /// - Parameters:
    ///   - base: where links lead, without a slash at the end.
    ///   - books: the languages at hand.
    ///   - service: the name of the server, which each letter says.
    package static func compose(
        base: String, books: Phrasebooks = .english, service: String
    ) -> @Sendable (Letters.Contents, Letter) -> LetterText {
        { contents, letter in
            Phrasebook.$current.withValue(books.book(letter.language)) {
                guard letter.address.kind == .phone else {
                    let text = mail(contents, base)
                    return LetterText(
                        subject: text.subject, body: "\(text.body)\n\n\(service)\n\(base)")
                }
                let text = message(contents, base)
                // There is no other sender that people could know.
                return LetterText(
                    subject: text.subject,
                    body: Phrase.messageFrom.text(["service": service, "text": text.body]))
            }
        }
    }

    private static func mail(_ contents: Letters.Contents, _ base: String) -> LetterText {
        func letter(_ subject: Phrase, _ paragraphs: String...) -> LetterText {
            LetterText(subject: subject.text, body: paragraphs.joined(separator: "\n\n"))
        }
        let unasked = Phrase.letterUnasked.text
        switch contents {
        case .reset(let secret):
            return letter(
                .resetPassword, Phrase.letterResetText.text, "\(base)/sign-in/reset/\(secret)",
                unasked)
        case .invitation(let secret):
            return letter(
                .letterInvitation, Phrase.letterInvitationText.text,
                "\(base)/sign-in/welcome/\(secret)", unasked)
        case .accountExists(let returnPath):
            return letter(
                .letterExists, Phrase.letterExistsText.text, base + self.returnPath(returnPath),
                unasked)
        case .code(let code):
            return letter(
                .letterCode, Phrase.letterCodeText.text, spaced(code),
                "\(Phrase.letterCodeGood.text) \(unasked)")
        case .device(let device):
            return letter(
                .letterDevice, news(of: device), Phrase.letterDeviceHint.text, "\(base)/account")
        }
    }

    /// As short as phones like it: a text message is paid for by its length.
    private static func message(_ contents: Letters.Contents, _ base: String) -> LetterText {
        let (subject, body): (Phrase, String) =
            switch contents {
            case .reset(let secret):
                (
                    .resetPassword,
                    Phrase.messageReset.text(["link": "\(base)/sign-in/reset/\(secret)"])
                )
            case .invitation(let secret):
                (
                    .letterInvitation,
                    Phrase.messageInvitation.text(["link": "\(base)/sign-in/welcome/\(secret)"])
                )
            case .accountExists(let returnPath):
                (
                    .letterExists,
                    Phrase.messageExists.text(["link": base + self.returnPath(returnPath)])
                )
            case .code(let code): (.letterCode, Phrase.messageCode.text(["code": spaced(code)]))
            case .device(let device): (.letterDevice, news(of: device))
            }
        return LetterText(subject: subject.text, body: body)
    }

    private static func returnPath(_ returnPath: String?) -> String {
        ShareReturnPath(returnPath)?.path ?? "/sign-in"
    }

    private static func spaced(_ code: String) -> String { "\(code.prefix(4)) \(code.suffix(4))" }

    private static func news(of device: String) -> String {
        device.isEmpty
            ? Phrase.letterDeviceText.text : Phrase.letterDeviceNamed.text(["device": device])
    }
}
