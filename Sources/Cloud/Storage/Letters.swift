import CloudModel

/// Something to be sent to an address; no secret is in it before it leaves.
package struct Letter: Sendable, Equatable {
    package enum Purpose: String, Sendable, CaseIterable {
        /// A link by which a forgotten password is replaced.
        case reset
        /// A link by which an account is made.
        case invitation
        /// A code by which somebody shows that the address is theirs.
        case address
        /// Word that a browser signed in that had not been seen before.
        case device
    }

    package let number: Int64
    package let purpose: Purpose
    /// Whose; nil where that is found out when it is sent.
    package let account: AccountID?
    package let address: Address
    /// What the text tells beside; empty for nothing.
    package let detail: String
    /// How often it was tried in vain.
    package let tries: Int
    package let madeAt: Milliseconds

    package init(
        number: Int64 = 0, purpose: Purpose, account: AccountID?, address: Address,
        detail: String = "", tries: Int = 0, madeAt: Milliseconds
    ) {
        self.number = number
        self.purpose = purpose
        self.account = account
        self.address = address
        self.detail = detail
        self.tries = tries
        self.madeAt = madeAt
    }
}

/// A link that a letter carries, good once.
package struct LetterLink: Sendable, Equatable {
    package enum Purpose: String, Sendable { case reset, invitation }

    /// SHA-256 of its last part.
    package let hash: [UInt8]
    package let purpose: Purpose
    /// Whose password is replaced; nil for an invitation.
    package let account: AccountID?
    package let address: Address
    package let expiresAt: Milliseconds

    package init(
        hash: [UInt8], purpose: Purpose, account: AccountID?, address: Address,
        expiresAt: Milliseconds
    ) {
        self.hash = hash
        self.purpose = purpose
        self.account = account
        self.address = address
        self.expiresAt = expiresAt
    }
}

/// What became of a code that somebody typed.
package enum CodeOutcome: Sendable, Equatable {
    case right
    case wrong
    /// None is awaited, or it has been guessed at too often, or its time is over.
    case none
}

/// What is to be sent, and the secrets that went out.
package protocol LetterCatalog: Sendable {
    func add(_ letter: Letter, dueAt: Milliseconds) throws
    /// Those that are due, the longest waiting first.
    func dueLetters(now: Milliseconds, countMax: Int) throws -> [Letter]
    /// How many wait.
    func letterCount() throws -> Int
    /// Notes one more try in vain.
    func postpone(letter number: Int64, until dueAt: Milliseconds) throws
    func deleteLetter(_ number: Int64) throws

    /// Drops what has expired by `now`, too.
    func add(_ link: LetterLink, now: Milliseconds) throws
    /// A link that is good; it stays so.
    func letterLink(hash: [UInt8], now: Milliseconds) throws -> LetterLink?
    /// Hands a link to the one caller who asks for it first, and ends all others of its purpose for the same
    /// address; nil for everybody else and after its time.
    func takeLetterLink(hash: [UInt8], now: Milliseconds) throws -> LetterLink?

    /// Awaits a code for an address, in place of any former one.
    func expect(
        code hash: [UInt8], for address: Address, of account: AccountID, triesMax: Int,
        expiresAt: Milliseconds
    ) throws
    /// Compares a code with the one that is awaited: each comparison takes a try, the right one ends it.
    func take(
        code hash: [UInt8], for address: Address, of account: AccountID, now: Milliseconds
    ) throws -> CodeOutcome

    /// Keeps the same password in another form.
    ///
    /// - Throws: `accountUnknown`.
    func renewPassword(_ password: String, of account: AccountID) throws
    /// Sets a password, and ends everything that acts as the account.
    ///
    /// - Parameter kept: the hash of a browser's session that stays; nil for none.
    /// - Throws: `accountUnknown`.
    func setPassword(_ password: String, of account: AccountID, except kept: [UInt8]?) throws
}
