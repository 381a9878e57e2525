import CloudModel
import Cryptography
import Storage

/// Signs people in with address and password.
///
/// An address that nobody has is refused after the same work as a wrong password, and waits as long.
package struct PasswordSignIn: Sendable {
    /// What a person typed, and where.
    package struct Attempt: Sendable {
        package let address: String
        package let password: [UInt8]
        /// Where on the network it comes from; nil when that may be shared by everybody.
        package let client: NetworkOrigin?
        /// What the browser keeps of earlier sign-ins; nil for nothing.
        package let device: String?

        package init(
            address: String, password: [UInt8], client: NetworkOrigin?, device: String?
        ) {
            self.address = address
            self.password = password
            self.client = client
            self.device = device
        }
    }

    package enum Outcome: Sendable, Equatable {
        /// The account has the hash of the password that was compared: what rests on the sign-in shows it again.
        ///
        /// - Parameter isNewDevice: whether the account has not signed in at this browser before.
        case signedIn(AccountRecord, isNewDevice: Bool)
        case wrong
        /// Too many guesses; the next may come in so many seconds.
        case wait(seconds: Int)
        /// There is no memory to compare passwords.
        case unavailable
    }

    let catalog: any CatalogStorage
    let limits: GuessLimits
    let devices: KnownDevices
    let random: RandomSource
    let settings: AccountsSettings
    let failed: SignInFailure.Told

    /// The account that somebody wants to sign in to, where it has signed in at their browser before; nil for a stranger.
    ///
    /// - Throws: what the catalog reports.
    package func account(knownAt device: String?, typed text: String) throws -> AccountID? {
        // NB: a text that is not an address belongs to no account.
        guard let device, let address = try? AddressFormat.any(text) else { return nil }
        let account = try catalog.account(verified: address)
        // As much work for an address that nobody has.
        return devices.name(in: device, of: account?.id) == nil ? nil : account?.id
    }

    /// Compares; blocks for as long as a password takes, so never on an event loop.
    ///
    /// - Throws: what the catalog reports.
    package func run(_ attempt: Attempt, now: Milliseconds) throws -> Outcome {
        let address =
            // NB: a text that is not an address belongs to no account, and is refused like one.
            (try? AddressFormat.any(attempt.address))
            ?? Address(kind: .email, text: "", folded: attempt.address.lowercased())
        let account = try catalog.account(verified: address)
        let device = devices.name(in: attempt.device, of: account?.id)
        let subject =
            device.map { GuessLimits.Subject.device(address.folded, id: $0) }
            ?? .address(address.folded)
        // Strangers in the same wide block do not lock out a person with a known browser.
        let client = device == nil ? attempt.client : attempt.client?.narrowest
        let counts = client?.counted(settings.clientPolicy, as: { .client($0) }) ?? []
        let wait = try limits.take([(subject, settings.accountPolicy)] + counts, now: now)
        if let wait {
            failed(
                SignInFailure(
                    .password, of: account?.id, from: attempt.client, isHeldBack: true, at: now))
            return .wait(seconds: wait)
        }
        // No account has a longer password; it is refused after the same work.
        let isPossible = attempt.password.count <= PasswordHash.passwordBytesMax
        let compared = try compare(isPossible ? attempt.password : [], with: account)
        switch compared {
        case .unavailable: return .unavailable
        case .wrong:
            failed(SignInFailure(.password, of: account?.id, from: attempt.client, at: now))
            return .wrong
        case .right(let account):
            try limits.forget(subject)
            try limits.giveBack(counts.map(\.subject))
            return .signedIn(account, isNewDevice: device == nil)
        }
    }

    private enum Comparison {
        case right(AccountRecord)
        case wrong
        case unavailable
    }

    /// Compares, and stores a password again that was not hashed at today's costs.
    private func compare(
        _ password: [UInt8], with account: AccountRecord?
    ) throws -> Comparison {
        let costs = settings.passwordCosts
        guard let compared = PasswordHash.compare(password, account?.password, wanted: costs)
        else { return .unavailable }
        guard compared.isMatch, var account, let previous = account.password else { return .wrong }
        guard compared.isOutdated,
            let hash = PasswordHash.make(password, random: random, costs: costs)
        else { return .right(account) }
        do {
            try catalog.change(
                account.id, by: AccountChange(password: hash, on: .password(previous)))
            account.password = hash
            return .right(account)
        } catch CatalogRefusal.passwordChanged {
            // Another sign-in has stored the same one again, or it is another password by now.
            guard let current = try catalog.account(account.id) else { return .wrong }
            let again = PasswordHash.compare(password, current.password, wanted: costs)
            guard let again else { return .unavailable }
            return again.isMatch ? .right(current) : .wrong
        }
    }
}
