import CloudModel
import Cryptography
import Storage

/// What people do with the secrets that letters brought them.
package struct LetterAnswers: Sendable {
    let catalog: any CatalogStorage
    let passwords: Passwords
    let random: RandomSource

    /// The recipient of a link, and the page that it leads to; nil for one that is not good now.
    package func link(
        of secret: String, _ purpose: LetterLink.Purpose, now: Milliseconds
    ) throws -> LetterLink? {
        let link = try catalog.letterLink(hash: Self.hash(secret), now: now)
        if purpose == .reset, let account = link?.account,
            try catalog.operatorRecord(of: account) != nil
        {
            return nil
        }
        return link?.purpose == purpose ? link : nil
    }

    /// Replaces a forgotten password, and ends all sessions.
    ///
    /// A letter alone never lets anybody in as an operator: for them a link is never good.
    ///
    /// - Returns: whose it was, with the new password; nil for a link that is not good, or was used by somebody else
    ///   first.
    /// - Throws: `passwordIllegal`: the link stays good, as it does whenever the password is not set.
    package func reset(
        _ secret: String, password: [UInt8], now: Milliseconds
    ) throws -> AccountRecord? {
        guard let id = try link(of: secret, .reset, now: now)?.account,
            var account = try catalog.account(id)
        else { return nil }
        let hash = try passwords.hash(password)
        do {
            try catalog.change(
                id,
                by: AccountChange(
                    password: hash, ended: .all(except: nil),
                    on: .resetLink(hash: Self.hash(secret), now: now)))
        } catch CatalogRefusal.letterLinkUnknown {
            return nil
        }
        account.password = hash
        return account
    }

    /// Makes an account for the person who was invited; the link has shown that the address is theirs.
    ///
    /// - Returns: nil for a link that is not good, or was used by somebody else first.
    /// - Throws: `nameIllegal`, `passwordIllegal`, `addressTaken` when the address has become another account's
    ///   meanwhile: the link stays good, as it does whenever no account is made.
    package func signUp(
        _ secret: String, givenName: String?, familyName: String?, password: [UInt8],
        now: Milliseconds
    ) throws -> AccountRecord? {
        guard let link = try link(of: secret, .invitation, now: now) else { return nil }
        let (given, family) = (
            try PlainName.checked(givenName), try PlainName.checked(familyName)
        )
        let hash = try passwords.hash(password)
        let account = AccountRecord(
            id: AccountID(UniqueID.random(random)), givenName: given, familyName: family,
            addresses: [AccountAddress(address: link.address, isPrimary: true, verifiedAt: now)],
            password: hash, createdAt: now)
        let entrance = AccountEntrance.invitation(link: Self.hash(secret))
        return try catalog.add(account, by: entrance, now: now) ? account : nil
    }

    /// Compares a code; the right one makes the address the account's own, for good.
    ///
    /// - Throws: `addressTaken` when it is another account's.
    package func prove(
        _ address: Address, of account: AccountID, code: String, now: Milliseconds
    ) throws -> CodeOutcome {
        let digits = String(code.filter { $0 != " " && $0 != "-" })
        let outcome = try catalog.take(
            code: Letters.hash(of: digits, for: address, of: account), for: address, of: account,
            now: now)
        if outcome == .right { try catalog.verify(address, of: account, now: now) }
        return outcome
    }

    private static func hash(_ secret: String) -> [UInt8] { SHA256.digest(Array(secret.utf8)) }
}
