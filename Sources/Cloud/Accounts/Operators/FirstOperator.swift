import CloudModel
import Cryptography
import Storage

/// The link by which the first operator of a new server makes themselves.
package struct FirstOperator: Sendable {
    private static let secretBytes = 32
    /// How long the link is good.
    package static let seconds = 3_600

    let catalog: any CatalogStorage
    let passwords: Passwords
    let random: RandomSource

    /// The secret of the link, in a catalog that knows nobody and nothing yet; nil in any other, and when it was offered
    /// before.
    package func offer(now: Milliseconds) throws -> String? {
        let one = ListRequest(limit: 1)
        guard try catalog.containers(one).items.isEmpty, try catalog.accounts(one).items.isEmpty
        else { return nil }
        let secret = Base64.encode(random.bytes(Self.secretBytes), .urlSafe)
        let isKept = try catalog.offerFirstOperator(
            hash: Self.hash(secret), until: now + Milliseconds(Self.seconds) * 1_000)
        return isKept ? secret : nil
    }

    /// Makes the account of the first operator.
    ///
    /// - Returns: nil for a secret that is not good now, and once there is an operator.
    /// - Throws: `emailIllegal`, `passwordIllegal`, `passwordNotHashed`, `addressTaken`: the link stays good.
    package func take(
        _ secret: String, email: String, password: [UInt8], now: Milliseconds
    ) throws -> AccountRecord? {
        let account = AccountRecord(
            id: AccountID(UniqueID.random(random)), givenName: nil, familyName: nil,
            addresses: [
                AccountAddress(
                    address: try AddressFormat.email(email), isPrimary: true, verifiedAt: now)
            ], password: try passwords.hash(password), createdAt: now)
        let entrance = AccountEntrance.firstOperator(hash: Self.hash(secret))
        return try catalog.add(account, by: entrance, now: now) ? account : nil
    }

    private static func hash(_ secret: String) -> [UInt8] { SHA256.digest(Array(secret.utf8)) }
}
