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

    /// As `account`, for many texts; without those that lead to none.
    func accounts(namedByOperator texts: Set<String>) throws -> [String: AccountRecord] {
        let keys =
            texts.map { text in
                // NB: what is no address leads to no account by one.
                let address = (try? AddressFormat.phone(text)) ?? (try? AddressFormat.email(text))
                return (text, [.id(AccountID(text))] + (address.map { [.verified($0)] } ?? []))
            } as [(String, [AccountKey])]
        let found = try accounts(Set(keys.flatMap(\.1)))
        return Dictionary(
            uniqueKeysWithValues: keys.compactMap { text, keys in
                keys.compactMap { found[$0] }.first.map { (text, $0) }
            })
    }
}
