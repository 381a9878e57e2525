import CloudModel
import Cryptography
import Storage

/// The second factor of accounts: set up, asked for, removed.
package struct SecondFactors: Sendable {
    /// What came of a code that somebody typed.
    package enum Outcome: Sendable, Equatable {
        /// - Parameter recoveryLeft: how many recovery codes are left, when it was one of them.
        case right(recoveryLeft: Int?)
        case wrong
        /// Too many guesses; the next may come in so many seconds.
        case wait(seconds: Int)
    }

    /// The account and the browser that a code comes from.
    package struct Attempt: Sendable {
        package let code: String
        /// Where on the network it comes from; nil when that may be shared by everybody.
        package let client: NetworkOrigin?
        /// What the browser keeps of earlier sign-ins; nil for nothing.
        package let device: String?

        package init(code: String, client: NetworkOrigin?, device: String?) {
            self.code = code
            self.client = client
            self.device = device
        }
    }

    /// Two sign-ins with different codes can get in each other's way this often.
    private static let triesMax = 16

    let catalog: any CatalogStorage
    let secrets: SealedSecrets
    let limits: GuessLimits
    let devices: KnownDevices
    let random: RandomSource
    let settings: AccountsSettings
    let failed: SignInFailure.Told

    /// A secret for an app, to be shown to its owner and handed to `set` with a code of it.
    package func makeSecret() -> [UInt8] { TimeCodes.makeSecret(random) }

    /// How many recovery codes an account has left; nil when it has no second factor.
    package func recoveryLeft(of account: AccountID) throws -> Int? {
        try catalog.secondFactor(of: account)?.recovery.count
    }

    /// Sets an account's second factor, in place of any previous one.
    ///
    /// - Parameter code: of the app that was given the secret.
    /// - Returns: the recovery codes, seen this once; nil for a code that is not the secret's.
    /// - Throws: `accountUnknown`.
    package func set(
        secret: [UInt8], code: String, of account: AccountID, now: Milliseconds
    ) throws -> [String]? {
        guard let step = TimeCodes(secret: secret).step(of: code, at: now, after: nil) else {
            return nil
        }
        let codes = RecoveryCodes.make(owner: account.text, random: random)
        try catalog.set(
            SecondFactor(
                account: account, secret: secrets.seal(secret, for: Self.subject(account)),
                lastStep: step, recovery: codes.digests, madeAt: now))
        return codes.shown
    }

    /// Removes an account's second factor, so that the password is enough again.
    package func remove(of account: AccountID) throws {
        try catalog.delete(.secondFactor, of: account)
    }

    /// Compares a code of the app, or a recovery code, with what an account has; each counts once.
    ///
    /// An account without a second factor has no right code.
    /// - Throws: `SecretRefusal` when the secret cannot be opened; what the catalog reports.
    package func check(
        _ attempt: Attempt, of account: AccountID, now: Milliseconds
    ) throws -> Outcome {
        let device = devices.name(in: attempt.device, of: account)
        let subject = GuessLimits.Subject.factor(account.text, device: device)
        let client = device == nil ? attempt.client : attempt.client?.narrowest
        let counts = client?.counted(settings.clientPolicy, as: { .client($0) }) ?? []
        if let wait = try limits.take([(subject, settings.accountPolicy)] + counts, now: now) {
            failed(
                SignInFailure(
                    .code, of: account, from: attempt.client, isHeldBack: true, at: now))
            return .wait(seconds: wait)
        }
        let (isRight, left) = try take(attempt.code, of: account, now: now)
        guard isRight else {
            failed(SignInFailure(.code, of: account, from: attempt.client, at: now))
            return .wrong
        }
        try limits.forget(subject)
        try limits.giveBack(counts.map(\.subject))
        return .right(recoveryLeft: left)
    }

    private func take(
        _ code: String, of account: AccountID, now: Milliseconds
    ) throws -> (isRight: Bool, recoveryLeft: Int?) {
        for _ in 0..<Self.triesMax {
            guard let factor = try catalog.secondFactor(of: account) else { return (false, nil) }
            var (used, left) = (factor, Int?.none)
            let secret = try secrets.open(factor.secret, for: Self.subject(account))
            let codes = TimeCodes(secret: secret)
            if let step = codes.step(of: code, at: now, after: factor.lastStep) {
                used.lastStep = step
            } else if let rest = RecoveryCodes.use(
                code, of: factor.recovery, owner: account.text)
            {
                (used.recovery, left) = (rest, rest.count)
            } else {
                return (false, nil)
            }
            if try catalog.set(used, inPlaceOf: factor) { return (true, left) }
        }
        return (false, nil)
    }

    /// What opens the secret of an account.
    package static func subject(_ account: AccountID) -> SecretSubject {
        SecretSubject(purpose: "totp", owner: account.text)
    }
}
