import CloudModel
import Cryptography
import Storage

/// Sets passwords: every other session of the account ends with the old one.
package struct Passwords: Sendable {
    package static let bytesMin = 8

    private let catalog: any CatalogStorage
    private let random: RandomSource
    private let costs: PasswordHash.Costs

    package init(
        catalog: any CatalogStorage, random: RandomSource = .system,
        costs: PasswordHash.Costs = .standard
    ) {
        self.catalog = catalog
        self.random = random
        self.costs = costs
    }

    /// The text to keep of a password of 8 to 1,024 bytes.
    ///
    /// - Throws: `passwordIllegal`, `passwordNotHashed`.
    package func hash(_ password: [UInt8]) throws(AccountsRefusal) -> String {
        guard (Self.bytesMin...PasswordHash.passwordBytesMax).contains(password.count) else {
            throw .passwordIllegal
        }
        guard let hash = PasswordHash.make(password, random: random, costs: costs) else {
            throw .passwordNotHashed
        }
        return hash
    }

    /// Sets an account's password, and ends its sessions, web tokens, codes and links.
    ///
    /// - Parameters:
    ///   - previous: the hash of the one that was compared before; nil to set it whatever there is.
    ///   - kept: the hash of the browser's session that asks for it, which stays.
    /// - Throws: `passwordIllegal`, `passwordNotHashed`, `accountUnknown`; `passwordChanged` where the previous one is
    ///   another by now.
    package func set(
        _ password: [UInt8], of account: AccountID, inPlaceOf previous: String? = nil,
        except kept: [UInt8]? = nil
    ) throws {
        try catalog.change(
            account,
            by: AccountChange(
                password: hash(password), ended: .all(except: kept),
                on: previous.map { .password($0) } ?? .account))
    }
}
