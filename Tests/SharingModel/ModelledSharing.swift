/// What the rulings say of shares, kept in the plainest way: owners, zones, trees, who takes part.
///
/// It knows nothing of how the server does it: every question climbs parents anew. It says for each
/// person exactly what they may see, and for each request how it may end. Tags, short GUIDs and
/// participants' ids are learnt from what the owner is shown.
package struct ModelledSharing {
    package enum Permission: String, CaseIterable, Sendable {
        case nothing = "NONE"
        case readOnly = "READ_ONLY"
        case readWrite = "READ_WRITE"
    }

    package enum Role: String, Sendable {
        case owner = "OWNER"
        case administrator = "ADMINISTRATOR"
        case user = "USER"
        case publicUser = "PUBLIC_USER"
    }

    package enum Status: String, Sendable {
        case invited = "INVITED"
        case accepted = "ACCEPTED"
        /// He has left.
        case removed = "REMOVED"
    }

    /// What somebody was invited by.
    package enum Handle: Hashable, Sendable {
        /// The user record name.
        case name(Int)
        case email(String)
        case phone(String)
        /// He came by the link.
        case link(Int)
        /// Whoever comes first by a link of its own; the number tells such links apart.
        case first(Int)
    }

    package struct Participant: Equatable, Sendable {
        package var id: String?
        package var handle: Handle
        /// Who was invited by their name, or has accepted.
        package var user: Int?
        package var role: Role
        package var permission: Permission
        package var status: Status
        /// Whether they take part because they asked to.
        package var hasAsked = false
        /// The last part of the address that is good for them alone, once it is learnt.
        package var secretLink: String?
    }

    package struct Share: Equatable, Sendable {
        /// Nil for a share of the whole zone.
        package var root: String?
        package var publicPermission: Permission
        package var participants: [Participant] = []
        package var allowsRequests = false
        /// Who ask to take part, the longest waiting first.
        package var asking: [Int] = []
        /// Who may not ask.
        package var blocked: [Int] = []
    }

    package struct Record: Equatable, Sendable {
        package var type: String
        /// Raw values by field.
        package var fields: [String: String] = [:]
        package var parent: String?
        package var creator: Int
        package var modifier: Int
        /// Of a share record.
        package var share: Share?
        package var hasGUID = false
        /// Nil until it is learnt.
        package var tag: String?
        package var guid: String?
        /// Tags that it had.
        package var oldTags: [String] = []
        /// Whether a participant made the reference by which it goes with another record.
        package var isTiedByParticipant = false

        /// Notes that its tag is another one now.
        package mutating func touch() {
            if let tag { oldTags = oldTags.suffix(4) + [tag] }
            tag = nil
        }
    }

    package struct Zone: Sendable {
        /// Tells zones of one name apart.
        package var generation: Int
        package var records: [String: Record] = [:]
    }

    package struct OwnedZone: Hashable, Comparable, Sendable {
        package let owner: Int
        package let zone: String

        package init(owner: Int, zone: String) {
            self.owner = owner
            self.zone = zone
        }

        package static func < (one: OwnedZone, other: OwnedZone) -> Bool {
            (one.owner, one.zone) < (other.owner, other.zone)
        }
    }

    package static let shareType = "cloudkit.share"
    package static let zoneShare = "cloudkit.zoneshare"
    package static let defaultZone = "_defaultZone"

    package internal(set) var zones: [OwnedZone: Zone] = [:]
    /// Who has proved that an address is theirs.
    package internal(set) var verified: [Handle: Int] = [:]
    /// Zones whose content may have changed since somebody last looked.
    package var touched: Set<OwnedZone> = []
    private var generations = 0

    package init(people: Int) {
        for owner in 0..<people {
            zones[OwnedZone(owner: owner, zone: Self.defaultZone)] = Zone(generation: 0)
        }
    }

    package mutating func verify(_ handle: Handle, as user: Int) { verified[handle] = user }

    package mutating func makeZone(_ ownedZone: OwnedZone) {
        guard zones[ownedZone] == nil else { return }
        generations += 1
        zones[ownedZone] = Zone(generation: generations)
        touched.insert(ownedZone)
    }

    /// - Returns: whether there was one.
    package mutating func removeZone(_ ownedZone: OwnedZone) -> Bool {
        guard zones.removeValue(forKey: ownedZone) != nil else { return false }
        touched.insert(ownedZone)
        return true
    }

    // MARK: - Trees

    package func record(_ name: String, in ownedZone: OwnedZone) -> Record? {
        zones[ownedZone]?.records[name]
    }

    /// The share records of a zone, by name.
    package func shares(in ownedZone: OwnedZone) -> [(name: String, share: Share)] {
        (zones[ownedZone]?.records ?? [:]).compactMap { name, record in
            record.share.map { (name, $0) }
        }.sorted { $0.name < $1.name }
    }

    /// The share whose root a record is.
    package func share(ofRoot name: String, in ownedZone: OwnedZone) -> String? {
        shares(in: ownedZone).first { $0.share.root == name }?.name
    }

    /// The share that a record belongs to: its zone's, or that of the nearest root above it.
    package func covering(_ name: String, in ownedZone: OwnedZone) -> String? {
        guard let zone = zones[ownedZone], let record = zone.records[name] else { return nil }
        if zone.records[Self.zoneShare] != nil { return Self.zoneShare }
        if record.share != nil { return name }
        var roots: [String: String] = [:]
        for (name, share) in shares(in: ownedZone) {
            if let root = share.root { roots[root] = name }
        }
        guard !roots.isEmpty else { return nil }
        var at: String? = name
        var seen: Set<String> = []
        while let here = at, seen.insert(here).inserted {
            if let share = roots[here] { return share }
            at = zone.records[here]?.parent
        }
        return nil
    }

    package func children(of name: String, in ownedZone: OwnedZone) -> [String] {
        (zones[ownedZone]?.records ?? [:]).filter { $0.value.parent == name }.map(\.key).sorted()
    }

    /// A record and everything below it, from the top.
    package func tree(_ root: String, in ownedZone: OwnedZone) -> [String] {
        var reached = [root]
        var at = 0
        while at < reached.count {
            reached += children(of: reached[at], in: ownedZone).filter { !reached.contains($0) }
            at += 1
        }
        return reached
    }

    package func ancestors(of name: String, in ownedZone: OwnedZone) -> [String] {
        var found: [String] = []
        var at = record(name, in: ownedZone)?.parent
        while let here = at, !found.contains(here) {
            found.append(here)
            at = record(here, in: ownedZone)?.parent
        }
        return found
    }

    // MARK: - Rights

    /// Whose entry this is, as far as anybody has proved it.
    package func person(of participant: Participant) -> Int? {
        participant.user ?? verified[participant.handle]
    }

    /// The entry that is somebody's: by their name, else by one of their addresses.
    package func entry(of user: Int, in share: Share) -> Participant? {
        share.participants.first { $0.user == user }
            ?? share.participants.first { $0.user == nil && verified[$0.handle] == user }
    }

    /// The entry of somebody who has accepted.
    package func participation(of user: Int, in share: Share) -> Participant? {
        entry(of: user, in: share).flatMap { $0.status == .accepted ? $0 : nil }
    }

    /// The entry of somebody who may accept: they are invited, or have left.
    package func invitation(of user: Int, in share: Share) -> Participant? {
        entry(of: user, in: share).flatMap { $0.status == .accepted ? nil : $0 }
    }

    /// What somebody may do with a record; nil when they cannot see it.
    package func permission(of user: Int, for name: String, in ownedZone: OwnedZone) -> Permission?
    {
        guard ownedZone.owner != user else { return .readWrite }
        guard let covering = covering(name, in: ownedZone),
            let share = record(covering, in: ownedZone)?.share,
            let entry = participation(of: user, in: share), entry.permission != .nothing
        else { return nil }
        return entry.permission
    }

    /// Whether somebody sees all of a zone, by right or by its share.
    package func seesWhole(_ ownedZone: OwnedZone, _ user: Int) -> Bool {
        ownedZone.owner == user
            || record(Self.zoneShare, in: ownedZone) != nil
                && permission(of: user, for: Self.zoneShare, in: ownedZone) != nil
    }

    /// The zones of others of which somebody sees anything.
    package func sharedOwnedZones(of user: Int) -> [OwnedZone] {
        zones.keys.filter { ownedZone in
            ownedZone.owner != user
                && shares(in: ownedZone).contains {
                    participation(of: user, in: $0.share).map { $0.permission != .nothing } ?? false
                }
        }.sorted()
    }

    package func ownOwnedZones(of user: Int) -> [OwnedZone] {
        zones.keys.filter { $0.owner == user && $0.zone != Self.defaultZone }.sorted()
    }

    // MARK: - Learning

    /// Records whose tags are not known.
    package func unknown(in ownedZone: OwnedZone) -> [String] {
        (zones[ownedZone]?.records ?? [:]).filter { $0.value.tag == nil }.map(\.key).sorted()
    }

    package mutating func change(
        _ name: String, in ownedZone: OwnedZone, _ body: (inout Record) -> Void
    ) {
        guard var record = zones[ownedZone]?.records[name] else { return }
        body(&record)
        zones[ownedZone]?.records[name] = record
        touched.insert(ownedZone)
    }
}
