import Background
import CloudModel
import Storage

/// Sends a letter to an address.
package protocol LetterSender: Sendable {
    /// Whether letters of this kind can be sent at all.
    func reaches(_ kind: Address.Kind) -> Bool
    /// Sends one letter, and returns when the next server is responsible for it; blocks.
    ///
    /// - Throws: when it is to be tried again later.
    func send(_ text: LetterText, to address: Address) throws
}

/// A letter as it goes out.
package struct LetterText: Sendable, Equatable {
    package let subject: String
    package let body: String
    /// The same for each try to send it; nil where there is one try.
    package var identifier: String?

    package init(subject: String, body: String) {
        self.subject = subject
        self.body = body
    }
}

/// Sends what is due.
///
/// A letter is sent at least once. If its row could not be removed afterwards, it is sent again,
/// with the same identifier and the same secret.
package struct LetterRound: Sendable {
    /// What became of the letters of a round.
    package struct Outcome: Sendable, Equatable {
        package var sent = 0
        /// They no longer had a recipient.
        package var dropped = 0
        /// Will be tried again; the reason is for the log.
        package var failures: [String] = []
        /// Given up.
        package var givenUp = 0

        package init() {}
    }

    private static let roundMax = 32
    /// Then a letter is of no use any more.
    private static let ageMax: Milliseconds = 86_400_000

    private let catalog: any CatalogStorage
    private let letters: Letters
    private let sender: any LetterSender
    private let backoff: Backoff
    private let compose: @Sendable (Letters.Contents, Letter) -> LetterText

    /// - Parameters:
    ///   - backoff: when a letter is tried again that could not be sent.
    ///   - compose: puts what a letter says into words, for its address and in its language.
    package init(
        catalog: any CatalogStorage, letters: Letters, sender: any LetterSender,
        backoff: Backoff = Backoff(first: 60_000, longest: 3_600_000),
        compose: @escaping @Sendable (Letters.Contents, Letter) -> LetterText
    ) {
        self.catalog = catalog
        self.letters = letters
        self.sender = sender
        self.backoff = backoff
        self.compose = compose
    }

    /// Sends what is due to addresses of one kind; blocks.
    ///
    /// Rounds of different kinds may run at the same time: a silent provider of text messages delays no mail.
    ///
    /// - Parameter lease: of this process, which sends for all.
    /// - Throws: what the catalog reports; `StoreLease.Lost` once another process sends: it then sends what this one has
    ///   sent last once more.
    package func run(
        to kind: Address.Kind, now: Milliseconds, by lease: LeaderLease = .sole
    ) throws -> Outcome {
        var outcome = Outcome()
        for letter in try catalog.dueLetters(to: kind, now: now, countMax: Self.roundMax) {
            guard sender.reaches(letter.address.kind), now - letter.madeAt < Self.ageMax else {
                outcome.givenUp += 1
                try catalog.deleteLetter(letter.number, by: lease)
                continue
            }
            guard let contents = try letters.contents(of: letter, now: now) else {
                outcome.dropped += 1
                try catalog.deleteLetter(letter.number, by: lease)
                continue
            }
            do {
                var text = compose(contents, letter)
                text.identifier = letters.identifier(of: letter)
                try sender.send(text, to: letter.address)
                outcome.sent += 1
                try catalog.deleteLetter(letter.number, by: lease)
            } catch is StoreLease.Lost {
                throw StoreLease.Lost()
            } catch {
                outcome.failures.append("\(error)")
                let pause = backoff.milliseconds(after: letter.tries + 1)
                try catalog.postpone(letter: letter.number, until: now + pause, by: lease)
            }
        }
        return outcome
    }
}
