import Accounts
import CloudModel
import JSON

/// Reads what a record says about sharing (web-services.md §5.12).
///
/// A wrong JSON type and an unknown word fail the whole request. A mistake in a name or an address is a
/// `Fault` of the item, which `ItemFault` carries.
package enum ShareDecoder {
    /// A fault of the one record.
    struct ItemFault: Error {
        let fault: Fault
    }

    /// What a record says about a share; nil when it says nothing.
    ///
    /// - Parameter participantsMax: how many a share may have besides its owner. One too many ends the
    ///   reading.
    static func decode(
        _ record: RequestObject, participantsMax: Int
    ) throws -> ShareRequest? {
        let root = try root(record)
        let publicPermission = try permission(record, "publicPermission")
        let participants = try record.array("participants").map {
            try entries($0, most: participantsMax)
        }
        let allowsRequests = try record.bool("allowsAccessRequests")
        let decisions = try decisions(record, most: participantsMax)
        guard
            root != nil || publicPermission != nil || participants != nil || allowsRequests != nil
                || decisions != AccessDecisions()
        else { return nil }
        var request = ShareRequest(
            root: root, publicPermission: publicPermission, participants: participants)
        request.allowsRequests = allowsRequests
        request.decisions = decisions
        return request
    }

    /// The decisions on those who ask to take part (rulings.md 50).
    private static func decisions(
        _ record: RequestObject, most: Int
    ) throws -> AccessDecisions {
        var decisions = AccessDecisions()
        decisions.approve = try users(record, "approve", most)
        decisions.deny = try users(record, "deny", most)
        decisions.block = try users(record, "block", most)
        decisions.unblock = try users(record, "unblock", most)
        return decisions
    }

    private static func users(
        _ record: RequestObject, _ key: StaticString, _ most: Int
    ) throws -> [UserRecordName] {
        let names = try record.strings(key) ?? []
        guard names.count <= most else {
            throw ItemFault(
                fault: .limitExceeded(
                    "\(key): \(names.count) given; the limit is \(most) "
                        + "(limits.participantsPerShareMax)"))
        }
        return try names.map { name in
            guard let user = UserRecordName(name) else {
                throw ItemFault(
                    fault: .badRequest(
                        "\(key): expected user record names: _ and 32 lower-case hexadecimal digits"
                    ))
            }
            return user
        }
    }

    private static func entries(
        _ elements: JSONElements, most: Int
    ) throws -> [ParticipantEntry] {
        var entries: [ParticipantEntry] = []
        var named: Set<ParticipantEntry.Handle> = []
        var nameless = 0
        for element in elements {
            let entry = try entry(RequestObject(element, key: "participants"))
            entries.append(entry)
            if entry.isOneTimeLink, entry.id == nil {
                nameless += 1
            } else {
                named.insert(entry.handle)
            }
            // One of them may be the owner.
            guard named.count + nameless <= most + 1 else {
                throw ItemFault(fault: ParticipantEntry.tooMany(most))
            }
        }
        return entries
    }

    private static func root(_ record: RequestObject) throws -> ShareRequest.Root? {
        guard let object = try record.object("forRecord") else { return nil }
        guard let text = try object.string("recordName") else {
            throw RequestObject.mismatch(object.value, "forRecord", "an object with recordName")
        }
        let tag = try object.string("recordChangeTag")
        guard let name = RecordName(text) else {
            throw ItemFault(
                fault: .badRequest("forRecord: no record can have the name '\(text)'"))
        }
        return ShareRequest.Root(name: name, changeTag: tag)
    }

    /// The words of a permission on the wire: UNKNOWN says nothing.
    private enum PermissionWord: String, CaseIterable {
        case none = "NONE"
        case readOnly = "READ_ONLY"
        case readWrite = "READ_WRITE"
        case unknown = "UNKNOWN"

        var permission: SharePermission? {
            switch self {
            case .none: SharePermission.none
            case .readOnly: .readOnly
            case .readWrite: .readWrite
            case .unknown: nil
            }
        }
    }

    private static func permission(
        _ object: RequestObject, _ key: StaticString
    ) throws(Fault) -> SharePermission? {
        try object.word(key, PermissionWord.self)?.permission
    }

    /// The words of a participant's role on the wire, with the spellings of other clients.
    private enum RoleWord: String, CaseIterable {
        case owner = "OWNER"
        case administrator = "ADMINISTRATOR"
        case user = "USER"
        case privateUser = "PRIVATE_USER"
        case publicUser = "PUBLIC_USER"
        case unknown = "UNKNOWN"

        var role: ParticipantRole? {
            switch self {
            case .owner: .owner
            case .administrator: .administrator
            case .user, .privateUser: .privateUser
            case .publicUser: .publicUser
            case .unknown: nil
            }
        }
    }

    /// The words of a status on the wire; they are checked and then ignored.
    private enum StatusWord: String, CaseIterable {
        case invited = "INVITED"
        case pending = "PENDING"
        case accepted = "ACCEPTED"
        case removed = "REMOVED"
        case unknown = "UNKNOWN"
    }

    private static func entry(_ object: RequestObject) throws -> ParticipantEntry {
        var entry = ParticipantEntry(
            id: try object.string("participantId"),
            role: try object.word("type", RoleWord.self)?.role,
            permission: try permission(object, "permission"))
        _ = try object.word("acceptanceStatus", StatusWord.self)
        entry.isOneTimeLink = try object.bool("oneTimeLink") ?? false
        guard let identity = try object.object("userIdentity") else { return entry }
        let info = try identity.object("lookupInfo")
        let (email, phone) = (
            try info?.string("emailAddress"), try info?.string("phoneNumber")
        )
        let (outer, inner) = (
            try identity.string("userRecordName"), try info?.string("userRecordName")
        )
        if let text = outer ?? inner {
            guard !ZoneReader.isOwnerAlias(text) else {
                entry.role = .owner
                return entry
            }
            entry.user = try user(text, isKnown: entry.id != nil)
        }
        do {
            if let email {
                entry.address = try AddressFormat.email(email).folded
            } else if let phone {
                entry.address = try AddressFormat.phone(phone).folded
            }
        } catch {
            throw ItemFault(
                fault: .badRequest(
                    "participants: lookupInfo: expected an emailAddress such as a@b.example, or a "
                        + "phoneNumber of 5 to 15 digits"))
        }
        return entry
    }

    private static func user(_ text: String, isKnown: Bool) throws(ItemFault) -> UserRecordName? {
        if let user = UserRecordName(text) { return user }
        // An entry with a participantId needs no other name.
        if isKnown { return nil }
        throw ItemFault(
            fault: .badRequest(
                "participants: userRecordName: expected _ and 32 lower-case hexadecimal digits"))
    }
}

extension ShareDecoder {
    /// What a record says about sharing, beside the keys of every record.
    static let keys: [ObjectKey] = [
        .optional(
            "forRecord",
            .object(
                ObjectShape(
                    "SharedRoot",
                    [.required("recordName", .recordName), .optional("recordChangeTag", .text)]))),
        .optional("publicPermission", .words(PermissionWord.self)),
        .optional("participants", .list(.object(participant))),
        .beyond("allowsAccessRequests", .flag), .beyond("approve", names),
        .beyond("deny", names), .beyond("block", names), .beyond("unblock", names),
    ]

    private static let names = ValueShape.list(
        .userRecordName, most: \ServiceLimits.participantsPerShareMax)

    private static let participant = ObjectShape(
        "Participant",
        [
            .optional("participantId", .text), .optional("type", .words(RoleWord.self)),
            .optional("permission", .words(PermissionWord.self)),
            .optional("acceptanceStatus", .words(StatusWord.self)),
            .beyond("oneTimeLink", .flag),
            .optional(
                "userIdentity",
                .object(
                    ObjectShape(
                        "UserIdentity",
                        [
                            .optional("userRecordName", .userRecordName),
                            .optional("lookupInfo", .object(lookupInfo)),
                        ]))),
        ])

    /// How a person is named: by one of these.
    package static let lookupInfo = ObjectShape(
        "LookupInfo", oneOf: ["emailAddress", "phoneNumber", "userRecordName"],
        [
            .optional("emailAddress", .emailAddress), .optional("phoneNumber", .phoneNumber),
            .optional("userRecordName", .userRecordName),
        ])
}
