import CloudModel

/// A letter to be sent to an address; any secret is put into it only as it leaves, the same with each try.
package struct Letter: Sendable, Equatable {
    package enum Purpose: String, Sendable, CaseIterable {
        /// A link to replace a forgotten password.
        case reset
        /// A link to make an account.
        case invitation
        /// A code by which a person shows that the address is theirs.
        case address
        /// News that a new browser signed in.
        case device
    }

    package let number: Int64
    package let purpose: Purpose
    /// Whose letter it is; nil when the server finds that out only as it sends the letter.
    package let account: AccountID?
    package let address: Address
    /// A detail that the text mentions; empty for none.
    package let detail: String
    /// The page to go on to by the letter's link; nil for the account page.
    package let returnPath: String?
    /// The language in which the one who asked for the letter reads pages; empty for English.
    package let language: String
    /// How many tries to send it have failed.
    package let tries: Int
    package let madeAt: Milliseconds

    package init(
        number: Int64 = 0, purpose: Purpose, account: AccountID?, address: Address,
        detail: String = "", returnPath: String? = nil, language: String = "", tries: Int = 0,
        madeAt: Milliseconds
    ) {
        self.number = number
        self.purpose = purpose
        self.account = account
        self.address = address
        self.detail = detail
        self.returnPath = returnPath
        self.language = language
        self.tries = tries
        self.madeAt = madeAt
    }
}

/// A link that a letter carries; it works once.
package struct LetterLink: Sendable, Equatable {
    package enum Purpose: String, Sendable { case reset, invitation }

    /// SHA-256 of the link's last part.
    package let hash: [UInt8]
    package let purpose: Purpose
    /// The account whose password is replaced; nil for an invitation.
    package let account: AccountID?
    package let address: Address
    /// The page to go on to; nil for the account page.
    package let returnPath: String?
    package let expiresAt: Milliseconds

    package init(
        hash: [UInt8], purpose: Purpose, account: AccountID?, address: Address,
        returnPath: String? = nil, expiresAt: Milliseconds
    ) {
        self.hash = hash
        self.purpose = purpose
        self.account = account
        self.address = address
        self.returnPath = returnPath
        self.expiresAt = expiresAt
    }
}

/// What comes of a code that a person typed.
package enum CodeOutcome: Sendable, Equatable {
    case right
    case wrong
    /// No code is expected: there never was one, too many wrong guesses ended it, or it has expired.
    case none
}

/// Letters to be sent, and the links and codes that went out.
package protocol LetterCatalog: Sendable {
    /// Queues a letter, unless there is no room for it.
    ///
    /// - Parameter waitingMax: how many letters of its purpose may wait with it; nil for any number.
    /// - Returns: false where as many wait already.
    func add(_ letter: Letter, dueAt: Milliseconds, waitingMax: Int?) throws -> Bool
    /// Letters to addresses of one kind that are due, the longest waiting first.
    func dueLetters(
        to kind: Address.Kind, now: Milliseconds, countMax: Int
    ) throws -> [Letter]
    /// Notes one more failed try to send a letter; deletes it when it is never due again.
    ///
    /// - Parameters:
    ///   - dueAt: nil for never.
    ///   - lease: of the process that has tried.
    /// - Throws: `StoreLease.Lost`.
    func postpone(
        letter number: Int64, until dueAt: Milliseconds?, by lease: LeaderLease
    ) throws

    /// Adds a link, or has it end later, and drops links that have expired by `now`.
    func add(_ link: LetterLink, now: Milliseconds) throws
    /// The link with this hash; nil once it was used up or has expired.
    ///
    /// What it is for uses it up (`AccountEntrance.invitation`, `AccountChangeBasis.resetLink`), together with all other
    /// links of the same purpose for the same address.
    func letterLink(hash: [UInt8], now: Milliseconds) throws -> LetterLink?

    /// Expects a code for an address, in place of any former code.
    func expect(
        code hash: [UInt8], for address: Address, of account: AccountID, triesMax: Int,
        expiresAt: Milliseconds
    ) throws
    /// The addresses whose codes an account may still type, and those to which one is on its way; the one asked
    /// for last comes last.
    func awaitedAddresses(of account: AccountID, now: Milliseconds) throws -> [Address]
    /// Compares a typed code with the expected one.
    ///
    /// Each comparison uses up one try; the right code ends the waiting.
    func take(
        code hash: [UInt8], for address: Address, of account: AccountID, now: Milliseconds
    ) throws -> CodeOutcome
}

extension LetterCatalog {
    /// Queues a letter, however many wait.
    package func add(_ letter: Letter, dueAt: Milliseconds) throws {
        guard try add(letter, dueAt: dueAt, waitingMax: nil) else {
            throw BrokenInvariant("a letter is queued where any number may wait")
        }
    }

    package func deleteLetter(_ number: Int64, by lease: LeaderLease) throws {
        try postpone(letter: number, until: nil, by: lease)
    }
}
