import CloudModel
import Cryptography
import Storage

/// What an operator does with the people who have an account.
package struct Users: Sendable {
    private let catalog: any CatalogStorage
    private let random: RandomSource
    private let passwords: Passwords

    /// - Parameter costs: of the hashes of passwords.
    package init(
        catalog: any CatalogStorage, random: RandomSource = .system,
        costs: PasswordHash.Costs = .standard
    ) {
        self.catalog = catalog
        self.random = random
        passwords = Passwords(catalog: catalog, random: random, costs: costs)
    }

    /// Makes an account.
    ///
    /// The e-mail address counts as verified, the phone number does not.
    ///
    /// - Parameter password: 8 to 1,024 bytes; kept only as a salted hash.
    /// - Throws: `emailIllegal`, `phoneIllegal`, `nameIllegal`, `passwordIllegal`, `addressTaken`.
    package func create(
        email: String, givenName: String? = nil, familyName: String? = nil, phone: String? = nil,
        password: [UInt8]? = nil, now: Milliseconds
    ) throws -> AccountRecord {
        var addresses = [
            AccountAddress(
                address: try AddressFormat.email(email), isPrimary: true, verifiedAt: now)
        ]
        if let phone {
            addresses.append(
                AccountAddress(
                    address: try AddressFormat.phone(phone), isPrimary: false, verifiedAt: nil))
        }
        let account = AccountRecord(
            id: AccountID(UniqueID.random(random)), givenName: try PlainName.checked(givenName),
            familyName: try PlainName.checked(familyName), addresses: addresses,
            password: try password.map { try passwords.hash($0) }, createdAt: now)
        try catalog.add(account)
        return account
    }

    /// The accounts, searched by their addresses in whatever spelling.
    ///
    /// - Parameter some: only those whom one of these containers knows; nil for all.
    /// - Throws: `UnusableCursor`.
    package func list(
        _ request: ListRequest = ListRequest(), knownIn some: Set<ContainerID>? = nil
    ) throws -> ListPage<AccountRecord> {
        try catalog.accounts(
            ListRequest(
                after: request.after, limit: request.limit,
                prefix: AddressFormat.foldedPrefix(request.prefix)), knownIn: some)
    }

    /// The account with this verified e-mail address, or with this ID: a person who came from an app has no
    /// address.
    ///
    /// - Throws: `emailIllegal`, `userUnknown`.
    package func find(email: String) throws -> AccountRecord {
        try catalog.account(namedByOperator: email)
    }

    /// As `find`, for many texts; without those that lead to no account.
    package func find(named texts: Set<String>) throws -> [String: AccountRecord] {
        try catalog.accounts(namedByOperator: texts)
    }

    /// The name under which a container knows an account, noted as given out.
    ///
    /// - Throws: `containerUnknown`, `accountUnknown`.
    package func recordName(
        of account: AccountRecord, in container: ContainerID
    ) throws -> UserRecordName {
        let name = try derivedName(of: account, in: container)
        try catalog.note(name, of: account.id, in: container)
        return name
    }

    /// As `recordName`, for many.
    package func recordNames(
        of accounts: Set<AccountID>, in container: ContainerID
    ) throws -> [AccountID: UserRecordName] {
        let derived = try UserRecordNames(catalog: catalog, random: random)
        let names = accounts.map { ($0, derived.name(of: $0, in: container)) }
        try catalog.note(
            Dictionary(uniqueKeysWithValues: names.map { ($1, $0) }), in: container)
        return Dictionary(uniqueKeysWithValues: names)
    }

    /// The name under which a container would know an account, or knows it.
    package func derivedName(
        of account: AccountRecord, in container: ContainerID
    ) throws -> UserRecordName {
        try UserRecordNames(catalog: catalog, random: random).name(of: account.id, in: container)
    }

    /// The addresses that name the accounts behind user record names of a container; server keys and accounts
    /// without an address have none.
    package func emails(
        of names: Set<UserRecordName>, in container: ContainerID
    ) throws -> [UserRecordName: String] {
        let keys = try catalog.bearers(of: names, in: container).compactMapValues { bearer in
            if case .account(let account) = bearer { AccountKey.id(account) } else { nil }
        }
        let accounts = try catalog.accounts(Set(keys.values))
        return keys.compactMapValues { accounts[$0]?.email }
    }

    /// Notes that a further e-mail address or phone number is the user's own.
    ///
    /// - Throws: `emailIllegal`, `addressIllegal`, `userUnknown`, `addressTaken`.
    package func verify(
        email: String, address: String, now: Milliseconds
    ) throws -> AccountRecord {
        let account = try find(email: email)
        try catalog.verify(AddressFormat.any(address), of: account.id, now: now)
        return try find(email: email)
    }

    /// Deletes an account and ends its web tokens.
    ///
    /// The caller then deletes what each container's stores hold of the account. After a crash,
    /// `unfinishedDeletions` names the same containers again, until `finish` was called for each.
    ///
    /// - Throws: `emailIllegal`, `userUnknown`.
    package func delete(
        email: String, publicRecords: PublicRecordsFate = .keep
    ) throws -> [AccountDeletion] {
        try catalog.delete(find(email: email).id, publicRecords: publicRecords)
    }

    /// - Throws: `UnusableCursor`.
    package func unfinishedDeletions(
        _ request: ListRequest = ListRequest()
    ) throws -> ListPage<AccountDeletion> { try catalog.accountDeletions(request) }

    /// Notes that both environments' stores hold nothing of deleted accounts any more.
    package func finish(_ deletions: [AccountDeletion]) throws { try catalog.forget(deletions) }

    /// Sets a user's password, and ends their sessions everywhere.
    ///
    /// - Throws: `emailIllegal`, `userUnknown`, `passwordIllegal`.
    package func setPassword(_ password: [UInt8], email: String) throws -> AccountRecord {
        let account = try find(email: email)
        try passwords.set(password, of: account.id)
        return account
    }
}
