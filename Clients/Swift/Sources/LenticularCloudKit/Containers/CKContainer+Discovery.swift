import CloudKitWire
import Foundation

// People, by what others know of them: those who have chosen to be found.
extension CKContainer {
    /// The person with an address.
    ///
    /// - Returns: nil for people who cannot be found, whether they are hidden or not there.
    /// - Throws: `CKError`, `notAuthenticated` when nobody is signed in.
    public func userIdentity(
        forEmailAddress emailAddress: String
    ) async throws -> CKUserIdentity? {
        try await identities([.init(emailAddress: emailAddress)])[0]
    }

    /// The person with a phone number.
    ///
    /// - Returns: nil for people who cannot be found, whether they are hidden or not there.
    /// - Throws: `CKError`, `notAuthenticated` when nobody is signed in.
    public func userIdentity(forPhoneNumber phoneNumber: String) async throws -> CKUserIdentity? {
        try await identities([.init(phoneNumber: phoneNumber)])[0]
    }

    /// The person whom a record stands for.
    ///
    /// - Returns: nil for people who cannot be found, whether they are hidden or not there.
    /// - Throws: `CKError`, `notAuthenticated` when nobody is signed in.
    public func userIdentity(
        forUserRecordID userRecordID: CKRecord.ID
    ) async throws -> CKUserIdentity? {
        try await identities([.init(userRecordID: userRecordID)])[0]
    }

    /// Who have addresses; who cannot be found is left out.
    ///
    /// - Throws: `CKError`, `notAuthenticated` when nobody is signed in.
    public func userIdentities(
        forEmailAddresses emailAddresses: [String]
    ) async throws -> [String: CKUserIdentity] {
        try await found(emailAddresses) { .init(emailAddress: $0) }
    }

    /// Who have phone numbers; who cannot be found is left out.
    ///
    /// - Throws: `CKError`, `notAuthenticated` when nobody is signed in.
    public func userIdentities(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: CKUserIdentity] {
        try await found(phoneNumbers) { .init(phoneNumber: $0) }
    }

    /// Whose records they are; who cannot be found is left out.
    ///
    /// - Throws: `CKError`, `notAuthenticated` when nobody is signed in.
    public func userIdentities(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: CKUserIdentity] {
        try await found(userRecordIDs) { .init(userRecordID: $0) }
    }

    private func found<Key: Hashable>(
        _ keys: [Key], _ info: (Key) -> CKUserIdentity.LookupInfo
    ) async throws -> [Key: CKUserIdentity] {
        let identities = try await identities(keys.map(info))
        return Dictionary(
            zip(keys, identities).compactMap { key, found in found.map { (key, $0) } }
        ) { first, _ in first }
    }

    /// One answer for each, in their order; nil for people who cannot be found.
    func identities(
        _ infos: [CKUserIdentity.LookupInfo]
    ) async throws -> [CKUserIdentity?] {
        guard !infos.isEmpty else { return [] }
        let answer = try await publicCloudDatabase.call("users/discover") { json in
            json.key("lookupInfos")
            json.array { json in
                for info in infos { json.lookupInfo(info) }
            }
        }
        let reader = try await publicCloudDatabase.reader()
        let found = (answer["users"]?.elements).map(Array.init) ?? []
        return infos.indices.map { index in
            guard index < found.count, found[index]["userRecordName"] != nil else { return nil }
            return reader.identity(found[index])
        }
    }
}
