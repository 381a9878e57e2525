import CloudKitWire
import Foundation

// Invitations and links.
extension CKContainer {
    /// An entry for a share, for somebody with an address.
    ///
    /// Whether anybody has the address is not told: the entry waits for a person who proves that it is theirs.
    ///
    /// - Throws: nothing: whether anybody is there turns out when the share is saved.
    public func shareParticipant(
        forEmailAddress emailAddress: String
    ) async throws -> CKShare.Participant {
        Self.participant(CKUserIdentity.LookupInfo(emailAddress: emailAddress))
    }

    /// An entry for a share, for somebody with a phone number.
    ///
    /// - Throws: nothing: whether anybody is there turns out when the share is saved.
    public func shareParticipant(
        forPhoneNumber phoneNumber: String
    ) async throws -> CKShare.Participant {
        Self.participant(CKUserIdentity.LookupInfo(phoneNumber: phoneNumber))
    }

    /// An entry for a share, for somebody who is known by their record.
    ///
    /// - Throws: nothing: whether anybody is there turns out when the share is saved.
    public func shareParticipant(
        forUserRecordID userRecordID: CKRecord.ID
    ) async throws -> CKShare.Participant {
        CKShareParticipant(
            CKUserIdentity(
                userRecordID: userRecordID, nameComponents: nil,
                lookupInfo: CKUserIdentity.LookupInfo(userRecordID: userRecordID)))
    }

    private static func participant(_ info: CKUserIdentity.LookupInfo) -> CKShare.Participant {
        CKShareParticipant(
            CKUserIdentity(userRecordID: nil, nameComponents: nil, lookupInfo: info))
    }

    /// Entries for a share, for several people with addresses.
    ///
    /// - Throws: nothing; what concerns one of them is in its result.
    public func shareParticipants(
        forEmailAddresses emailAddresses: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        await Self.each(emailAddresses) { try await self.shareParticipant(forEmailAddress: $0) }
    }

    /// Entries for a share, for several people with phone numbers.
    ///
    /// - Throws: nothing; what concerns one of them is in its result.
    public func shareParticipants(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        await Self.each(phoneNumbers) { try await self.shareParticipant(forPhoneNumber: $0) }
    }

    /// Entries for a share, for several people who are known by their records.
    ///
    /// - Throws: nothing; what concerns one of them is in its result.
    public func shareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKShare.Participant, any Error>] {
        await Self.each(userRecordIDs) { try await self.shareParticipant(forUserRecordID: $0) }
    }

    private static func each<Key: Hashable, Value>(
        _ keys: [Key], _ body: (Key) async throws -> Value
    ) async -> [Key: Result<Value, any Error>] {
        var results: [Key: Result<Value, any Error>] = [:]
        for key in keys {
            do {
                results[key] = .success(try await body(key))
            } catch {
                results[key] = .failure(CKError(error))
            }
        }
        return results
    }

    /// What a link leads to.
    ///
    /// - Throws: `CKError` `unknownItem` for a link that leads nowhere, or to what is not for the caller.
    public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        try await metadata("records/resolve", of: Self.shortGUID(of: url), RootRequest())
    }

    /// What several links lead to, each for itself.
    ///
    /// - Throws: nothing; what concerns one link is in its result, as `shareMetadata(for:)` throws it.
    public func shareMetadatas(
        for urls: [URL]
    ) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        try await shareMetadatas(for: urls, RootRequest())
    }

    /// What of the roots of shares is wanted.
    struct RootRequest: Sendable {
        var isWanted = true
        /// Nil for all fields.
        var keys: [CKRecord.FieldKey]?
    }

    func shareMetadatas(
        for urls: [URL], _ root: RootRequest
    ) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        await Self.each(urls) {
            try await self.metadata("records/resolve", of: Self.shortGUID(of: $0), root)
        }
    }

    /// Takes part in a share: its records are in the shared database from then on.
    ///
    /// - Throws: `CKError`, `notAuthenticated` when nobody is signed in, `unknownItem` for a share that is gone.
    @discardableResult
    public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
        try await self.metadata("records/accept", of: metadata.shortGUID, RootRequest()).share
    }

    /// Takes part in several shares, each for itself.
    ///
    /// - Throws: nothing; what concerns one share is in its result.
    @discardableResult
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
        await Self.each(metadatas) { try await self.accept($0) }
    }

    /// The last part of a link; what follows a `#` is for people.
    private static func shortGUID(of url: URL) -> String { url.lastPathComponent }

    private func metadata(
        _ operation: String, of shortGUID: String, _ root: RootRequest
    ) async throws -> CKShare.Metadata {
        let answer = try await publicCloudDatabase.call(operation) { json in
            json.key("shortGUIDs")
            json.array { json in
                json.object { json in
                    json.member("value", shortGUID)
                    json.key("shouldFetchRootRecord")
                    json.bool(root.isWanted)
                    if let keys = root.keys {
                        json.key("rootRecordDesiredKeys")
                        json.array { json in for key in keys { json.string(key) } }
                    }
                }
            }
        }
        guard let result = answer["results"]?.elements.first(where: { _ in true }) else {
            throw CKError(.unknownItem, "the link leads to no share")
        }
        if let fault = WireFault(result) { throw CKError(fault, of: .item) }
        let reader = try await sharedCloudDatabase.reader()
        guard let metadata = reader.metadata(result, shortGUID) else {
            throw CKError(.internalError, "the answer does not describe the share")
        }
        return metadata
    }
}

extension AnswerReader {
    fileprivate func metadata(_ view: JSONView, _ shortGUID: String) -> CKShareMetadata? {
        guard let zone = zoneID(view["zoneID"]), let shareView = view["share"],
            let name = shareView["recordName"]?.string,
            let share = record(
                shareView, as: CKRecord.ID(recordName: name, zoneID: zone)) as? CKShare
        else { return nil }
        let rootName = view["rootRecordName"]?.string
        let root = rootName.flatMap {
            $0 == CKRecordNameZoneWideShare ? nil : CKRecord.ID(recordName: $0, zoneID: zone)
        }
        return CKShareMetadata(
            CKShareMetadata.Parts(
                container: view["containerIdentifier"]?.string ?? "", shortGUID: shortGUID,
                share: share, root: root,
                rootRecord: view["rootRecord"].flatMap { record($0, as: root) },
                role: ShareWords.role(view["participantType"]?.string),
                status: ShareWords.status(view["participantStatus"]?.string),
                permission: ShareWords.permission(view["participantPermission"]?.string),
                owner: identity(view["ownerIdentity"])))
    }
}
