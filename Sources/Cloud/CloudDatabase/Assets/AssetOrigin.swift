import CloudModel
import Storage

/// Who got an asset's address, and for what: when one of these is gone, the address ends.
package struct AssetOrigin: Sendable, Hashable {
    /// The credential of the request that got the address.
    package enum Credential: Sendable, Hashable {
        /// The first bytes of an API token's hash.
        case apiToken([UInt8])
        /// The first bytes of a server key's id.
        case serverKey([UInt8])
    }

    /// What the user must still see in a shared database.
    package enum SharedItem: Sendable, Hashable {
        case record(RecordNumber)
        case zone(ZoneName, owner: UserRecordName)
    }

    package static let markBytes = 8

    package let credential: Credential
    /// The user, also when a server key acted for them.
    package let user: UserRecordName?
    /// Nil outside of shared databases.
    package let sharedItem: SharedItem?

    package init(credential: Credential, user: UserRecordName?, sharedItem: SharedItem? = nil) {
        self.credential = credential
        self.user = user
        self.sharedItem = sharedItem
    }

    func at(_ sharedItem: SharedItem?) -> AssetOrigin {
        AssetOrigin(credential: credential, user: user, sharedItem: sharedItem)
    }

    // MARK: - As it stands in an address, encrypted

    /// The form in addresses: a byte for the kinds, then the mark, the user and the place, each after its
    /// length.
    var encoded: [UInt8] {
        var bytes: [UInt8] = [0]
        switch credential {
        case .apiToken(let mark): Self.append(mark, to: &bytes)
        case .serverKey(let mark):
            bytes[0] |= 1
            Self.append(mark, to: &bytes)
        }
        Self.append(Array((user?.text ?? "").utf8), to: &bytes)
        switch sharedItem {
        case nil: break
        case .record(let record):
            bytes[0] |= 2
            Self.append(Array("\(record.value)".utf8), to: &bytes)
        case .zone(let name, let owner):
            bytes[0] |= 4
            Self.append(Array(owner.text.utf8), to: &bytes)
            Self.append(Array(name.text.utf8), to: &bytes)
        }
        return bytes
    }

    /// Reads what `encoded` made; nil for anything else.
    init?(_ bytes: [UInt8]) {
        guard let kinds = bytes.first, kinds < 6 else { return nil }
        var rest = bytes.dropFirst()
        guard let mark = Self.next(&rest), let user = Self.next(&rest) else { return nil }
        credential = kinds & 1 == 0 ? .apiToken(Array(mark)) : .serverKey(Array(mark))
        if user.isEmpty {
            self.user = nil
        } else {
            guard let name = UserRecordName(String(decoding: user, as: UTF8.self)) else {
                return nil
            }
            self.user = name
        }
        switch kinds & 6 {
        case 0: sharedItem = nil
        case 2:
            guard let text = Self.next(&rest),
                let number = Int64(String(decoding: text, as: UTF8.self))
            else { return nil }
            sharedItem = .record(RecordNumber(number))
        default:
            guard let ownerText = Self.next(&rest), let nameText = Self.next(&rest),
                let owner = UserRecordName(String(decoding: ownerText, as: UTF8.self)),
                let name = ZoneName(String(decoding: nameText, as: UTF8.self))
            else { return nil }
            sharedItem = .zone(name, owner: owner)
        }
        guard rest.isEmpty else { return nil }
    }

    private static func append(_ text: [UInt8], to bytes: inout [UInt8]) {
        // Names have 255 bytes at most.
        bytes.append(UInt8(truncatingIfNeeded: text.count))
        bytes += text
    }

    private static func next(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let count = rest.first, rest.count > Int(count) else { return nil }
        defer { rest = rest.dropFirst(1 + Int(count)) }
        return rest.dropFirst().prefix(Int(count))
    }
}

extension AssetOrigin {
    /// Whether the user still sees what the address is for; always true outside of shared databases.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER while nobody can tell; what the engine reports.
    package func isSeen(in snapshot: any StoreSnapshot, _ limits: ServiceLimits) throws -> Bool {
        guard let sharedItem else { return true }
        guard let user else { return false }
        let zone: StoredZone?
        var record: RecordNumber?
        switch sharedItem {
        case .record(let number):
            guard let location = try snapshot.location(of: number) else { return false }
            record = number
            zone = try snapshot.zone(location.zone)
        case .zone(let name, let owner):
            zone = try snapshot.zone(named: name, ofOwnerNamed: owner)
        }
        guard let zone, !zone.isDeleted,
            let access = try ZoneAccess.of(user, in: zone, limits: limits, snapshot: snapshot)
        else { return false }
        return try record.map { try access.sees($0) } ?? true
    }
}
