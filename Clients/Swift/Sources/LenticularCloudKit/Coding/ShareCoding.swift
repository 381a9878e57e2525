import CloudKitWire
import Foundation

/// The words of shares, as the protocol has them.
enum ShareWords {
    static func permission(_ word: String?) -> CKShare.ParticipantPermission {
        switch word {
        case "NONE": .none
        case "READ_ONLY": .readOnly
        case "READ_WRITE": .readWrite
        default: .unknown
        }
    }

    static func word(_ permission: CKShare.ParticipantPermission) -> String {
        switch permission {
        case .unknown, .none: "NONE"
        case .readOnly: "READ_ONLY"
        case .readWrite: "READ_WRITE"
        }
    }

    static func role(_ word: String?) -> CKShare.ParticipantRole {
        switch word {
        case "OWNER": .owner
        case "ADMINISTRATOR": .administrator
        case "USER", "PRIVATE_USER": .privateUser
        case "PUBLIC_USER": .publicUser
        default: .unknown
        }
    }

    static func word(_ role: CKShare.ParticipantRole) -> String {
        switch role {
        case .owner: "OWNER"
        case .administrator: "ADMINISTRATOR"
        case .publicUser: "PUBLIC_USER"
        case .privateUser, .unknown: "USER"
        }
    }

    static func status(_ word: String?) -> CKShare.ParticipantAcceptanceStatus {
        switch word {
        case "INVITED", "PENDING": .pending
        case "ACCEPTED": .accepted
        case "REMOVED": .removed
        default: .unknown
        }
    }
}

extension AnswerReader {
    /// What a share has beside a record's fields.
    func shareDetails(_ view: JSONView) -> ShareDetails {
        var details = ShareDetails()
        details.publicPermission = ShareWords.permission(view["publicPermission"]?.string)
        details.participants =
            (view["participants"]?.elements).map {
                $0.map(participant)
            } ?? []
        details.current = view["currentUserParticipant"].map(participant)
        details.requests = accessRequests(view)
        return details
    }

    func participant(_ view: JSONView) -> CKShareParticipant {
        CKShareParticipant(
            identity(view["userIdentity"]), serverID: view["participantId"]?.string,
            role: ShareWords.role(view["type"]?.string),
            permission: ShareWords.permission(view["permission"]?.string),
            acceptanceStatus: ShareWords.status(view["acceptanceStatus"]?.string),
            isApprovedRequester: view["isApprovedRequester"]?.bool ?? false,
            oneTimeURL: view["oneTimeURL"]?.string.flatMap { URL(string: $0) })
    }

    func identity(_ view: JSONView?) -> CKUserIdentity {
        let lookup = view?["lookupInfo"]
        var name: PersonNameComponents?
        if let parts = view?["nameComponents"] {
            var components = PersonNameComponents()
            components.givenName = parts["givenName"]?.string
            components.familyName = parts["familyName"]?.string
            components.middleName = parts["middleName"]?.string
            components.nickname = parts["nickname"]?.string
            name = components
        }
        return CKUserIdentity(
            userRecordID: view?["userRecordName"]?.string.map {
                CKRecord.ID(recordName: $0 == user ? CKCurrentUserDefaultName : $0)
            },
            nameComponents: name,
            lookupInfo: lookup.map {
                CKUserIdentity.LookupInfo(
                    emailAddress: $0["emailAddress"]?.string,
                    phoneNumber: $0["phoneNumber"]?.string,
                    userRecordID: $0["userRecordName"]?.string.map { CKRecord.ID(recordName: $0) })
            })
    }
}

extension JSONText {
    /// Writes what a share has beside a record's fields, as far as it was changed.
    mutating func shareDetails(of share: CKShare) {
        if share.recordChangeTag == nil, let root = share.root {
            key("forRecord")
            object { json in
                json.member("recordName", root.recordID.recordName)
                if let tag = root.recordChangeTag { json.member("recordChangeTag", tag) }
            }
        }
        accessRequests(share.details.requests)
        guard share.details.isChanged || share.recordChangeTag == nil else { return }
        member("publicPermission", ShareWords.word(share.publicPermission))
        key("participants")
        array { json in
            for participant in share.participants { json.participant(participant) }
        }
    }

    private mutating func participant(_ participant: CKShareParticipant) {
        object { json in
            json.member("type", ShareWords.word(participant.role))
            json.member("permission", ShareWords.word(participant.permission))
            if let id = participant.serverID { json.member("participantId", id) }
            if participant.isOneTimeLink, participant.serverID == nil {
                json.key("oneTimeLink")
                return json.bool(true)
            }
            json.key("userIdentity")
            json.object { json in
                let identity = participant.userIdentity
                if let user = identity.userRecordID {
                    json.member("userRecordName", user.recordName)
                } else if let lookup = identity.lookupInfo {
                    json.key("lookupInfo")
                    json.lookupInfo(lookup)
                }
            }
        }
    }

    mutating func lookupInfo(_ info: CKUserIdentity.LookupInfo) {
        object { json in
            if let email = info.emailAddress { json.member("emailAddress", email) }
            if let phone = info.phoneNumber { json.member("phoneNumber", phone) }
            if let user = info.userRecordID { json.member("userRecordName", user.recordName) }
        }
    }
}
