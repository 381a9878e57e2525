import CloudKitWire
import Foundation

// Invitations and links.
extension CKContainer {
    /// An entry for a share, for somebody with an address.
    ///
    /// Whether anybody has the address is not told: the entry waits for whoever has proved that it is theirs.
    public func shareParticipant(
        forEmailAddress emailAddress: String
    ) async throws -> CKShare.Participant {
        Self.participant(CKUserIdentity.LookupInfo(emailAddress: emailAddress))
    }

    /// An entry for a share, for somebody with a phone number.
    public func shareParticipant(
        forPhoneNumber phoneNumber: String
    ) async throws -> CKShare.Participant {
        Self.participant(CKUserIdentity.LookupInfo(phoneNumber: phoneNumber))
    }

    /// An entry for a share, for somebody who is known by their record.
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

    /// What a link leads to.
    ///
    /// - Throws: `CKError` `unknownItem` for a link that leads nowhere, or to what is not for the caller.
    public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        try await metadata("records/resolve", of: Self.shortGUID(of: url))
    }

    /// What several links lead to, each for itself.
    public func shareMetadatas(
        for urls: [URL]
    ) async throws -> [URL: Result<CKShare.Metadata, any Error>] {
        var found: [URL: Result<CKShare.Metadata, any Error>] = [:]
        for url in urls {
            do {
                found[url] = .success(try await shareMetadata(for: url))
            } catch {
                found[url] = .failure(error)
            }
        }
        return found
    }

    /// Takes part in a share: its records are in the shared database from then on.
    @discardableResult
    public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
        try await self.metadata("records/accept", of: metadata.shortGUID).share
    }

    /// Takes part in several shares, each for itself.
    @discardableResult
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, any Error>] {
        var accepted: [CKShare.Metadata: Result<CKShare, any Error>] = [:]
        for metadata in metadatas {
            do {
                accepted[metadata] = .success(try await accept(metadata))
            } catch {
                accepted[metadata] = .failure(error)
            }
        }
        return accepted
    }

    /// The last part of a link; what follows a `#` is for people.
    private static func shortGUID(of url: URL) -> String { url.lastPathComponent }

    private func metadata(
        _ operation: String, of shortGUID: String
    ) async throws -> CKShare.Metadata {
        let answer = try await publicCloudDatabase.call(operation) { json in
            json.key("shortGUIDs")
            json.array { json in
                json.object { json in
                    json.member("value", shortGUID)
                    json.key("shouldFetchRootRecord")
                    json.bool(true)
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
