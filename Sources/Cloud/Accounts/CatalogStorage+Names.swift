import CloudModel
import Storage

extension CatalogStorage {
    /// The account that an operator names by a verified address, or by its ID.
    ///
    /// - Throws: `emailIllegal`, `userUnknown`.
    func account(namedByOperator text: String) throws -> AccountRecord {
        if let account = try account(AccountID(text)) { return account }
        // NB: what is no phone number is refused as an e-mail address.
        let address = try (try? AddressFormat.phone(text)) ?? AddressFormat.email(text)
        guard let account = try account(verified: address) else {
            throw AccountsRefusal.userUnknown
        }
        return account
    }
}
