import CloudModel
import JSON
import Storage

/// One share as one viewer may see it; the stored record names nobody (rulings.md 35 and 39).
struct ShareRendering {
    let share: StoredShare
    let participants: ParticipantList
    private let requests: AccessRequestList
    private let identities: any Identities
    private let viewer: StoredParticipant?
    private let oneTimeURL: (StoredParticipant) -> String?

    /// - Parameters:
    ///   - viewer: the participant who looks; nil for a person who does not take part.
    ///   - oneTimeURL: makes the one-time address of a participant.
    init(
        _ share: StoredShare, _ participants: ParticipantList, _ requests: AccessRequestList,
        for viewer: StoredParticipant?, identities: any Identities,
        oneTimeURL: @escaping (StoredParticipant) -> String? = { _ in nil }
    ) {
        self.share = share
        self.participants = participants
        self.requests = requests
        self.viewer = viewer
        self.identities = identities
        self.oneTimeURL = oneTimeURL
    }

    /// The whole record: the stored body with the participants that this viewer sees.
    func record(_ stored: UnsafeRawBufferPointer) throws -> [UInt8] {
        var writer = JSONWriter(reserving: stored.count + 1_024)
        if let owner = participants.owner?.user, try hidesModifier(of: stored) {
            writer.raw(try RecordBody.modified(by: owner, stored))
        } else {
            writer.raw(stored)
        }
        writer.bytes.removeLast()
        writer.raw(",\"publicPermission\":\"")
        writer.raw(share.publicPermission.word)
        writer.raw("\",\"participants\":[")
        for (index, participant) in participants.all.filter(isShown).enumerated() {
            if index > 0 { writer.raw(",") }
            try append(participant, to: &writer)
        }
        writer.raw("]")
        if let owner = participants.owner {
            writer.raw(",\"owner\":")
            try append(owner, to: &writer)
        }
        if let viewer {
            writer.raw(",\"currentUserParticipant\":")
            try append(viewer, to: &writer)
        }
        if decides { try appendRequests(to: &writer) }
        writer.raw("}")
        return writer.bytes
    }

    /// Shows those who decide on them who asks to take part and who is blocked (rulings.md 50).
    private func appendRequests(to writer: inout JSONWriter) throws {
        if share.allowsRequests { writer.raw(",\"allowsAccessRequests\":true") }
        let (waiting, blocked) = (requests.waiting, requests.blocked)
        if share.allowsRequests || !waiting.isEmpty {
            writer.raw(",\"requesters\":[")
            for (index, request) in waiting.enumerated() {
                writer.raw(index == 0 ? "{\"userIdentity\":" : ",{\"userIdentity\":")
                try append(identityOf: request.user, to: &writer)
                if let moment = request.madeAt { writer.member("timestamp", moment) }
                writer.raw("}")
            }
            writer.raw("]")
        }
        guard !blocked.isEmpty else { return }
        writer.raw(",\"blockedIdentities\":[")
        for (index, request) in blocked.enumerated() {
            if index > 0 { writer.raw(",") }
            try append(identityOf: request.user, to: &writer)
        }
        writer.raw("]")
    }

    /// Appends a person who gave their name by asking.
    private func append(identityOf user: UserRecordName, to writer: inout JSONWriter) throws {
        writer.raw("{\"userRecordName\":\"")
        writer.raw(ascii: user.text)
        writer.raw("\",\"nameComponents\":{")
        if let person = try identities.person(named: user) {
            Self.append(nameOf: person, to: &writer)
        }
        writer.raw("}}")
    }

    /// Whether an administrator that the viewer may not see saved the share last.
    private func hidesModifier(of stored: UnsafeRawBufferPointer) throws -> Bool {
        guard viewer?.role != .owner else { return false }
        let modifier = try RecordBody.modifier(of: stored)
        return !participants.all.contains { isShown($0) && $0.user?.text == modifier }
    }

    /// The owner's `userIdentity`.
    func appendOwnerIdentity(to writer: inout JSONWriter) throws {
        guard let owner = participants.owner else { return writer.raw("{}") }
        try append(identityOf: owner, to: &writer)
    }

    private var seesAddresses: Bool { viewer?.role == .owner }

    /// Whether the viewer may decide who takes part.
    private var decides: Bool { Self.decides(viewer) }

    static func decides(_ viewer: StoredParticipant?) -> Bool {
        guard let viewer else { return false }
        return viewer.role == .owner || viewer.role == .administrator && viewer.access != .none
    }

    /// The owner and administrators see everybody; so do those who may write, as they write together.
    private var seesAll: Bool {
        decides || viewer?.access == .readWrite
    }

    private func isShown(_ participant: StoredParticipant) -> Bool {
        seesAll || participant.role == .owner || participant.id == viewer?.id
    }

    private func append(
        _ participant: StoredParticipant, to writer: inout JSONWriter
    ) throws {
        writer.raw("{\"participantId\":")
        writer.string(participant.id)
        writer.raw(",\"userIdentity\":")
        try append(identityOf: participant, to: &writer)
        writer.raw(",\"type\":\"")
        writer.raw(participant.role.word)
        writer.raw("\",\"acceptanceStatus\":\"")
        writer.raw(participant.status.word)
        writer.raw("\",\"permission\":\"")
        writer.raw(participant.permission.word)
        writer.raw(participant.isApprovedRequester ? "\",\"isApprovedRequester\":true" : "\"")
        if decides, participant.isOneTimeLink, let url = oneTimeURL(participant) {
            writer.member("oneTimeURL", url)
        }
        writer.raw("}")
    }

    private func append(
        identityOf participant: StoredParticipant, to writer: inout JSONWriter
    ) throws {
        writer.raw("{")
        if let user = participant.user {
            writer.raw("\"userRecordName\":\"")
            writer.raw(ascii: user.text)
            writer.raw("\",")
        }
        writer.raw("\"nameComponents\":{")
        // People who have not accepted have given nobody their name: only they themselves see it.
        if let user = participant.user,
            participant.status != .invited || participant.id == viewer?.id,
            let person = try identities.person(named: user)
        {
            Self.append(nameOf: person, to: &writer)
        }
        writer.raw("}")
        if let address = participant.address, seesAddresses || participant.id == viewer?.id {
            writer.raw(
                address.utf8.contains(UInt8(ascii: "@"))
                    ? ",\"lookupInfo\":{\"emailAddress\":" : ",\"lookupInfo\":{\"phoneNumber\":")
            writer.string(address)
            writer.raw("}")
        }
        writer.raw("}")
    }

    private static func append(nameOf person: Person, to writer: inout JSONWriter) {
        if let given = person.givenName {
            writer.raw("\"givenName\":")
            writer.string(given)
        }
        if let family = person.familyName {
            writer.raw(person.givenName == nil ? "\"familyName\":" : ",\"familyName\":")
            writer.string(family)
        }
    }
}

extension Database {
    /// Appends a stored record as the caller may see it; every stored body takes this way into an answer.
    ///
    /// - Parameters:
    ///   - shares: of the snapshot that the version was read from.
    package func append(
        _ version: StoredVersion, as rendering: RecordRendering, with shares: ShownShares,
        to writer: inout JSONWriter
    ) throws {
        let (record, flags, body) = (version.record, version.flags, version.body)
        // Nearly every record of a page takes this way.
        if rendering.isWhole, flags.isShownAsStored { return writer.raw(body) }
        guard flags.contains(.share) else {
            // Links are made only for a record with assets.
            let links = flags.contains(.hasAssets) ? assetLinks(of: record) : nil
            return try rendering.append(
                body, fields: version.ranges?.fields, flags: flags,
                hidingParent: hidesParent(flags), assets: links, to: &writer)
        }
        let shown = try shown(record, flags, body, with: shares)
        try shown.withUnsafeBytes {
            try rendering.append($0, assets: assetLinks(of: record), to: &writer)
        }
    }

    /// Whether the caller must not see a record's parent.
    ///
    /// What lies above the root of a shared tree is not shared.
    private func hidesParent(_ flags: VersionFlags) -> Bool {
        scope == .shared && flags.contains(.root)
    }

    /// A stored record with all its fields, as the caller may see it.
    func shown(
        _ record: RecordNumber, _ flags: VersionFlags, _ body: UnsafeRawBufferPointer,
        with shares: ShownShares
    ) throws -> [UInt8] {
        guard !hidesParent(flags) else { return try RecordBody.withoutParent(body) }
        guard flags.contains(.share), let entry = try shares.entry(of: record) else {
            return [UInt8](body)
        }
        let viewer = caller.userRecordName.flatMap { entry.participants.participant($0) }
        return try rendering(entry, for: viewer, with: shares).record(body)
    }

    /// What shows a share to one viewer.
    func rendering(
        _ entry: ShownShares.Entry, for viewer: StoredParticipant?, with shares: ShownShares
    ) throws -> ShareRendering {
        let (share, participants) = (entry.share, entry.participants)
        guard ShareRendering.decides(viewer) else {
            return ShareRendering(
                share, participants, AccessRequestList([]), for: viewer, identities: identities)
        }
        let (guid, addresses) = (entry.shortGUID, shareAddresses)
        return ShareRendering(
            share, participants, try shares.requests(for: share.number), for: viewer,
            identities: identities
        ) { participant in guid.flatMap { addresses?.oneTime($0, participant) } }
    }
}

extension SharePermission {
    /// The permission on the wire.
    var word: StaticString {
        switch self {
        case .none: "NONE"
        case .readOnly: "READ_ONLY"
        case .readWrite: "READ_WRITE"
        }
    }
}

extension ParticipantRole {
    /// The role on the wire.
    var word: StaticString {
        switch self {
        case .owner: "OWNER"
        case .administrator: "ADMINISTRATOR"
        case .privateUser: "USER"
        case .publicUser: "PUBLIC_USER"
        }
    }
}

extension AcceptanceStatus {
    /// The status on the wire.
    var word: StaticString {
        switch self {
        case .invited: "INVITED"
        case .accepted: "ACCEPTED"
        case .removed: "REMOVED"
        }
    }
}
