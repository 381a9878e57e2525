/// One record as somebody is to see it, or has been shown it.
package struct SeenRecord: Equatable, Sendable, CustomStringConvertible {
    package var type = ""
    package var fields: [String: String] = [:]
    package var parent: String?
    /// The share record that a root names.
    package var share: String?
    package var guid: String?
    package var tag = ""
    package var creator = ""
    package var modifier = ""
    package var sharing: SeenShare?

    package var description: String {
        var text = "\(type) \(fields.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }) tag \(tag)"
        if let parent { text += " parent \(parent)" }
        if let share { text += " share \(share)" }
        if let guid { text += " guid \(guid)" }
        text += " by \(creator), \(modifier)"
        if let sharing { text += " \(sharing)" }
        return text
    }
}

package struct SeenShare: Equatable, Sendable {
    package var publicPermission = ""
    package var owner = ""
    package var current: SeenParticipant?
    package var participants: [SeenParticipant] = []
    package var allowsRequests = false
    /// User record names.
    package var asking: [String] = []
    package var blocked: [String] = []
}

package struct SeenParticipant: Equatable, Sendable {
    package var id = ""
    package var user: String?
    package var name: String?
    package var address: String?
    package var role = ""
    package var status = ""
    package var permission = ""
    package var hasAsked = false
    /// The last part of the address that is good for whoever comes first.
    package var link: String?
}

/// Somebody with everything about them that others may not know.
package struct SharingPerson: Sendable {
    package let index: Int
    package let givenName: String
    package let email: String
    /// Addresses that are theirs in the end, if not from the beginning.
    package let laterAddresses: [ModelledSharing.Handle]
    /// Known once they have an account.
    package var recordName: String?

    package init(index: Int) {
        self.index = index
        givenName = "qzg\(index)zq"
        email = "qze\(index)zq@example.org"
        laterAddresses = [.email("qzl\(index)zq@example.org"), .phone("+1555123400\(index)")]
    }
}

package struct SharingViews {
    package typealias OwnedZone = ModelledSharing.OwnedZone
    package let people: [SharingPerson]

    /// A zone as somebody is to see it, by record name.
    package func zone(
        _ ownedZone: OwnedZone, for user: Int, of model: ModelledSharing
    ) -> [String: SeenRecord] {
        guard let zone = model.zones[ownedZone] else { return [:] }
        var seen: [String: SeenRecord] = [:]
        for (name, record) in zone.records
        where model.permission(of: user, for: name, in: ownedZone) != nil {
            seen[name] = self.record(name, record, in: ownedZone, for: user, of: model)
        }
        return seen
    }

    private func record(
        _ name: String, _ record: ModelledSharing.Record, in ownedZone: OwnedZone, for user: Int,
        of model: ModelledSharing
    ) -> SeenRecord {
        var seen = SeenRecord(type: record.type, fields: record.fields)
        let share = model.share(ofRoot: name, in: ownedZone)
        let hidesParent = share != nil && ownedZone.owner != user
        seen.parent = hidesParent ? nil : record.parent
        seen.share = share
        seen.guid = record.hasGUID ? record.guid : nil
        seen.tag = record.tag ?? ""
        seen.creator = people[record.creator].recordName ?? ""
        seen.modifier = people[record.modifier].recordName ?? ""
        if let share = record.share {
            let sharing = sharing(share, in: ownedZone, for: user, of: model)
            seen.sharing = sharing
            // Nobody learns by it of an administrator whom they are not shown.
            if user != ownedZone.owner,
                !sharing.participants.contains(where: { $0.user == seen.modifier })
            {
                seen.modifier = sharing.owner
            }
        }
        return seen
    }

    // MARK: - Shares

    private func sharing(
        _ share: ModelledSharing.Share, in ownedZone: OwnedZone, for user: Int,
        of model: ModelledSharing
    ) -> SeenShare {
        var seen = SeenShare(publicPermission: share.publicPermission.rawValue)
        seen.owner = people[ownedZone.owner].recordName ?? ""
        let own = model.participation(of: user, in: share)
        let isOwner = user == ownedZone.owner
        var shown = [participant(nil, of: ownedZone.owner, showsAddress: isOwner)]
        if isOwner { seen.current = shown[0] }
        for entry in share.participants {
            let isOwn = own != nil && entry == own
            let showsAll = isOwner || own?.role == .administrator
            let showsName = own?.permission == .readWrite
            guard isOwn || showsAll || showsName else { continue }
            var found = participant(entry, of: entry.user, showsAddress: isOwn || isOwner)
            if showsAll, entry.user == nil { found.link = entry.secretLink }
            shown.append(found)
            if isOwn { seen.current = found }
        }
        seen.participants = shown.sorted { $0.id < $1.id }
        if isOwner || own?.role == .administrator {
            seen.allowsRequests = share.allowsRequests
            seen.asking = share.asking.compactMap { people[$0].recordName }
            seen.blocked = share.blocked.compactMap { people[$0].recordName }.sorted()
        }
        return seen
    }

    /// - Parameter entry: nil for the owner.
    private func participant(
        _ entry: ModelledSharing.Participant?, of user: Int?, showsAddress: Bool
    ) -> SeenParticipant {
        var seen = SeenParticipant()
        seen.id = entry == nil ? "owner" : entry?.id ?? ""
        seen.user = user.flatMap { people[$0].recordName }
        // Who has not answered has told nobody their name.
        if entry?.status != .invited { seen.name = user.map { people[$0].givenName } }
        if showsAddress, let entry {
            switch entry.handle {
            case .email(let text), .phone(let text): seen.address = text
            case .name, .link, .first: break
            }
        }
        seen.hasAsked = entry?.hasAsked ?? false
        seen.role = (entry?.role ?? .owner).rawValue
        seen.status = (entry?.status ?? .accepted).rawValue
        seen.permission = (entry?.permission ?? .readWrite).rawValue
        return seen
    }

    // MARK: - What may be known

    /// The strings that a zone tells somebody.
    package func secrets(
        _ ownedZone: OwnedZone, for user: Int, of model: ModelledSharing
    ) -> Set<String> {
        var found: Set<String> = []
        let seen = zone(ownedZone, for: user, of: model)
        if !seen.isEmpty || ownedZone.owner == user {
            found.insert(ownedZone.zone)
            found.formUnion(identity(ownedZone.owner))
        }
        for (name, record) in seen {
            found.insert(name)
            for text in [record.parent, record.share, record.guid, record.creator, record.modifier]
            {
                if let text { found.insert(text) }
            }
            for value in record.fields.values { found.formUnion(Secrets.inside(value)) }
            guard let share = model.record(name, in: ownedZone)?.share else { continue }
            found.formUnion(secrets(of: share, in: ownedZone, for: user, of: model))
        }
        return found
    }

    private func secrets(
        of share: ModelledSharing.Share, in ownedZone: OwnedZone, for user: Int,
        of model: ModelledSharing
    ) -> Set<String> {
        var found: Set<String> = []
        let own = model.participation(of: user, in: share)
        let isOwner = ownedZone.owner == user
        guard isOwner || own?.role == .administrator || own?.permission == .readWrite else {
            return found
        }
        for entry in share.participants {
            if let person = entry.user {
                if let name = people[person].recordName { found.insert(name) }
                if entry.status != .invited { found.formUnion(identity(person)) }
            }
            if isOwner { found.formUnion(address(entry)) }
        }
        if isOwner || own?.role == .administrator {
            for person in share.asking + share.blocked { found.formUnion(identity(person)) }
        }
        return found
    }

    private func identity(_ user: Int) -> Set<String> {
        Set([people[user].givenName, people[user].recordName].compactMap(\.self))
    }

    private func address(_ entry: ModelledSharing.Participant) -> Set<String> {
        switch entry.handle {
        case .email(let text), .phone(let text): Secrets.inside(text)
        case .name, .link, .first: []
        }
    }

    /// What somebody always knows.
    package func ownSecrets(_ user: Int) -> Set<String> {
        var found = identity(user).union(Secrets.inside(people[user].email))
        for handle in people[user].laterAddresses {
            if case .email(let text) = handle { found.formUnion(Secrets.inside(text)) }
            if case .phone(let text) = handle { found.formUnion(Secrets.inside(text)) }
        }
        return found
    }

    /// What resolving tells somebody who may see the share but has not joined.
    package func invitationSecrets(
        _ name: String, in ownedZone: OwnedZone, of model: ModelledSharing
    ) -> Set<String> {
        guard let record = model.record(name, in: ownedZone), let share = record.share else {
            return []
        }
        var found = identity(ownedZone.owner).union([name, ownedZone.zone])
        found.formUnion(record.guid.map { [$0] } ?? [])
        found.insert(people[record.creator].recordName ?? "")
        for value in record.fields.values { found.formUnion(Secrets.inside(value)) }
        guard let name = share.root, let root = model.record(name, in: ownedZone) else {
            return found
        }
        found.insert(name)
        for value in root.fields.values { found.formUnion(Secrets.inside(value)) }
        found.formUnion([root.creator, root.modifier].compactMap { people[$0].recordName })
        return found
    }
}

/// Finds what tells one thing from every other: the marks of records, contents and people.
package enum Secrets {
    /// Marks look like `qz…zq`; user record names and phone numbers have a form of their own.
    package static func inside(_ text: String) -> Set<String> { inside(Array(text.utf8)) }

    package static func inside(_ bytes: [UInt8]) -> Set<String> {
        var found: Set<String> = []
        var at = 0
        while at < bytes.count {
            var end = at + 1
            switch bytes[at] {
            case UInt8(ascii: "q"):
                if at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "z") {
                    end = mark(bytes, at) ?? end
                }
            case UInt8(ascii: "_"): end = userName(bytes, at) ?? end
            case UInt8(ascii: "+"): end = phone(bytes, at) ?? end
            default: break
            }
            if end > at + 1 { found.insert(String(decoding: bytes[at..<end], as: UTF8.self)) }
            at = end
        }
        return found
    }

    private static func mark(_ bytes: [UInt8], _ start: Int) -> Int? {
        var at = start + 2
        while at + 1 < bytes.count, at < start + 24 {
            if bytes[at] == UInt8(ascii: "z"), bytes[at + 1] == UInt8(ascii: "q") { return at + 2 }
            let byte = bytes[at]
            let isWord =
                (48...57).contains(byte) || (97...122).contains(byte) || (65...90).contains(byte)
            guard isWord else { return nil }
            at += 1
        }
        return nil
    }

    private static func userName(_ bytes: [UInt8], _ start: Int) -> Int? {
        let end = start + 33
        guard end <= bytes.count else { return nil }
        for byte in bytes[(start + 1)..<end] {
            guard (48...57).contains(byte) || (97...102).contains(byte) else { return nil }
        }
        return end
    }

    private static func phone(_ bytes: [UInt8], _ start: Int) -> Int? {
        let digits = bytes[(start + 1)...].prefix { (48...57).contains($0) }
        return digits.count == 11 ? start + 12 : nil
    }
}
