import CloudModel
import Cryptography
import Storage

/// Queues what is to be sent to people, and makes the secrets when it leaves.
///
/// A letter's secret and its identifier are made of a key that all processes have and of what the letter is: so one that
/// is sent again, by whichever process, is the same letter. What invites by hand is random.
///
/// Queueing looks at no account. So it does the same work, in the same time, for an address that has an account
/// and for one that has none. The server looks up the recipient only when the letter leaves.
///
/// Each kind of letter has its share of the queue, so that many letters of one kind do not shut out another.
package struct Letters: Sendable {
    /// What became of a request for a letter.
    package enum Outcome: Sendable, Equatable {
        case queued
        /// Too many lately; the next may be asked for in so many seconds.
        case wait(seconds: Int)
    }

    /// What a letter says.
    package enum Contents: Sendable, Equatable {
        /// The last part of a link by which a password is replaced.
        case reset(secret: String)
        /// The last part of a link by which an account is made.
        case invitation(secret: String)
        /// An account was asked for with an address that already has one.
        ///
        /// - Parameter returnPath: where they were going; nil for nowhere.
        case accountExists(returnPath: String?)
        /// What to type where the letter was asked for.
        case code(String)
        /// A browser that was not known signed in.
        case device(String)
    }

    private static let codeDigits = 8
    /// When too many wait, the caller may try again after so long.
    private static let fullSeconds = 60

    private let catalog: any CatalogStorage
    private let limits: GuessLimits
    private let random: RandomSource
    private let secrets: LetterSecrets
    private let settings: AccountsSettings
    private let textBudget: HourlyBudget

    package init(
        catalog: any CatalogStorage, limits: GuessLimits, random: RandomSource,
        secrets: SealedSecrets, settings: AccountsSettings,
        processCount: @escaping @Sendable () -> Int
    ) {
        self.catalog = catalog
        self.limits = limits
        self.random = random
        self.secrets = LetterSecrets(secrets)
        self.settings = settings
        textBudget = HourlyBudget(
            countMax: settings.textMessagesPerHourMax, processCount: processCount)
    }

    /// Queues a letter that was asked for, unless the caller or the address had many lately.
    ///
    /// - Parameters:
    ///   - account: whose code it is; nil for letters that find it out.
    ///   - origin: where on the network the request comes from; nil when that may be shared by everybody.
    ///   - returnPath: the page of the server to go on to by the letter's link; nil for the account page.
    ///   - language: as a file of texts is named; empty for English.
    /// - Throws: what the catalog reports.
    package func ask(
        for purpose: Letter.Purpose, to address: Address, of account: AccountID? = nil,
        from origin: NetworkOrigin?, returnPath: String? = nil, language: String = "",
        now: Milliseconds
    ) throws -> Outcome {
        let wait = try limits.take(
            counted(purpose, address, account)
                + (origin?.counted(settings.letterPolicy, as: { .lettersFor($0) }) ?? []),
            now: now)
        if let wait { return .wait(seconds: wait) }
        if address.kind == .phone, let wait = textBudget.take(now: now) {
            return .wait(seconds: wait)
        }
        let isQueued = try queue(
            Letter(
                purpose: purpose, account: account, address: address, returnPath: returnPath,
                language: language, madeAt: now))
        return isQueued ? .queued : .wait(seconds: Self.fullSeconds)
    }

    /// What a letter counts towards, beside the network address that asked for it.
    private func counted(
        _ purpose: Letter.Purpose, _ address: Address, _ account: AccountID?
    ) -> [(subject: GuessLimits.Subject, policy: GuessLimits.Policy)] {
        let subjects: [GuessLimits.Subject] =
            [.lettersTo(address.folded, purpose)]
            + (account.map { [.lettersOf($0, purpose)] } ?? [])
        return subjects.map { ($0, settings.letterPolicy) }
    }

    /// Queues a letter, however many wait.
    package func post(_ purpose: Letter.Purpose, to address: Address, now: Milliseconds) throws {
        try catalog.add(
            Letter(purpose: purpose, account: nil, address: address, madeAt: now), dueAt: now)
    }

    /// Queues a letter, unless the share of the queue is full that letters of its kind have.
    private func queue(_ letter: Letter) throws -> Bool {
        try catalog.add(
            letter, dueAt: letter.madeAt,
            waitingMax: max(1, settings.lettersWaitingMax / Letter.Purpose.allCases.count))
    }

    /// Queues news of a browser that was not known.
    ///
    /// There is none where the account or the address had many lately, where the share of such letters in the
    /// queue is full, and beyond the budget of text messages: repeated sign-ins tell nothing new.
    package func tell(
        of device: String, to address: Address, of account: AccountID, language: String,
        now: Milliseconds
    ) throws {
        guard try limits.take(counted(.device, address, account), now: now) == nil else { return }
        if address.kind == .phone, textBudget.take(now: now) != nil { return }
        _ = try queue(
            Letter(
                purpose: .device, account: account, address: address, detail: device,
                language: language, madeAt: now))
    }

    /// Makes a link by which an account for an address is made, to be handed on by an operator.
    package func invitation(
        to address: Address, returnPath: String? = nil, now: Milliseconds
    ) throws -> String {
        try link(
            random.bytes(HMACSHA256.codeBytes), .invitation, of: nil, to: address,
            returnPath: returnPath, seconds: settings.invitationSeconds, now: now)
    }

    /// By which those who get a letter more than once know it: the same for each try.
    func identifier(of letter: Letter) -> String {
        Hexadecimal.encode(secrets.code(of: letter, for: "identifier", bytes: 16))
    }

    /// Makes the contents of a letter; nil for one without a recipient.
    ///
    /// - Throws: what the catalog reports.
    package func contents(of letter: Letter, now: Milliseconds) throws -> Contents? {
        let owner = try catalog.account(verified: letter.address)
        switch letter.purpose {
        case .reset:
            // A letter alone lets nobody in as an operator.
            guard let owner, try catalog.operatorRecord(of: owner.id) == nil else { return nil }
            return .reset(
                secret: try link(
                    secrets.code(of: letter, for: "secret"), .reset, of: owner.id,
                    to: letter.address, returnPath: letter.returnPath,
                    seconds: settings.resetSeconds, now: now))
        case .invitation:
            if owner != nil { return .accountExists(returnPath: letter.returnPath) }
            return .invitation(
                secret: try link(
                    secrets.code(of: letter, for: "secret"), .invitation, of: nil,
                    to: letter.address, returnPath: letter.returnPath,
                    seconds: settings.invitationSeconds, now: now))
        case .address:
            guard let account = letter.account, try catalog.account(account) != nil else {
                return nil
            }
            return .code(
                try code(
                    secrets.code(of: letter, for: "secret"), for: letter.address, of: account,
                    now: now))
        case .device: return owner == nil ? nil : .device(letter.detail)
        }
    }

    /// What is kept of a code: it is good for one address of one account.
    static func hash(of code: String, for address: Address, of account: AccountID) -> [UInt8] {
        SHA256.digest(Array("\(account.text)\u{0}\(address.folded)\u{0}\(code)".utf8))
    }

    private func link(
        _ bytes: [UInt8], _ purpose: LetterLink.Purpose, of account: AccountID?,
        to address: Address, returnPath: String?, seconds: Int, now: Milliseconds
    ) throws -> String {
        let secret = Base64.encode(bytes, .urlSafe)
        try catalog.add(
            LetterLink(
                hash: SHA256.digest(Array(secret.utf8)), purpose: purpose, account: account,
                address: address, returnPath: returnPath,
                expiresAt: now + Milliseconds(seconds) * 1_000),
            now: now)
        return secret
    }

    private func code(
        _ bytes: [UInt8], for address: Address, of account: AccountID, now: Milliseconds
    ) throws -> String {
        // Of 64 bits hardly more come to one number than to another.
        let number = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 100_000_000
        let digits = String(number)
        let code = String(repeating: "0", count: Self.codeDigits - digits.count) + digits
        try catalog.expect(
            code: Self.hash(of: code, for: address, of: account), for: address, of: account,
            triesMax: settings.addressCodeTriesMax,
            expiresAt: now + Milliseconds(settings.addressCodeSeconds) * 1_000)
        return code
    }
}
