import CloudModel
import Storage

extension CatalogStorage {
    /// The account that an operator names by a verified e-mail address, or by its ID.
    ///
    /// - Throws: `emailIllegal`, `userUnknown`.
    func account(namedByOperator text: String) throws -> AccountRecord {
        if let account = try account(AccountID(text)) { return account }
        guard let account = try account(verified: AddressFormat.email(text)) else {
            throw AccountsRefusal.userUnknown
        }
        return account
    }
}
