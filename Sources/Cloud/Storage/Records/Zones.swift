import CloudModel

/// What a read sees of owners and their zones.
package protocol ZoneReading: AnyObject {
    /// The owners that keys lead to, in the keys' order; nil for one who has never had a zone.
    func owners(_ keys: [OwnerKey]) throws -> [StoredOwner?]

    /// The zones that keys lead to, in the keys' order; nil for a key that leads to none.
    func zones(_ keys: [ZoneKey]) throws -> [StoredZone?]

    /// Some of an owner's zones.
    func zones(of owner: OwnerNumber, _ selection: ZoneSelection) throws -> [StoredZone]

    /// How many bytes the records of an owner take, or of all where that is nil, by a look at each owner.
    ///
    /// - Returns: with it how many owners these are, and how many records one owner has in living zones; nil for all.
    func amount(of owner: OwnerNumber?) throws -> (bytes: Int64, owners: Int, records: Int?)
}

/// What an owner is looked for by.
package enum OwnerKey: Sendable {
    case name(UserRecordName)
    case number(OwnerNumber)
}

/// What a zone is looked for by.
package enum ZoneKey: Sendable {
    /// Alive or deleted; none once a deleted zone is collected.
    case number(ZoneNumber)
    /// The living zone with that name.
    case name(ZoneName, of: OwnerNumber)
    case nameOfOwner(ZoneName, UserRecordName)
}

/// Which of an owner's zones are asked for.
package enum ZoneSelection: Sendable {
    /// Those that are alive, default zones included, by name in the order of code points.
    case living
    /// The database feed: zones alive and deleted, by the position of their last change; without default zones.
    case changed(after: Position, limit: Int)
    /// All, default zones and deleted zones that are not collected yet included, in no particular order.
    case stored(limit: Int)
}

extension ZoneReading {
    /// The owner with that user record name.
    package func owner(named name: UserRecordName) throws -> StoredOwner? {
        try owners([.name(name)]).first ?? nil
    }

    /// The record name of an owner.
    package func ownerName(_ number: OwnerNumber) throws -> UserRecordName? {
        try ownerNames([number]).first ?? nil
    }

    /// The record names of owners, in their order.
    package func ownerNames(_ numbers: [OwnerNumber]) throws -> [UserRecordName?] {
        try owners(numbers.map { .number($0) }).map { $0?.userRecordName }
    }

    /// The zones with their numbers, each with the record name of its owner; without those that are gone.
    package func ownedZones(
        _ numbers: some Sequence<ZoneNumber>
    ) throws -> [ZoneNumber: (zone: StoredZone, owner: UserRecordName)] {
        let zones = try zones(Set(numbers).map { .number($0) }).compactMap { $0 }
        let owners = Array(Set(zones.map(\.owner)))
        let names = Dictionary(
            uniqueKeysWithValues: zip(owners, try ownerNames(owners)))
        var found: [ZoneNumber: (zone: StoredZone, owner: UserRecordName)] = [:]
        for zone in zones {
            if let owner = names[zone.owner] ?? nil { found[zone.number] = (zone, owner) }
        }
        return found
    }

    /// The zone with that number, alive or deleted.
    package func zone(_ number: ZoneNumber) throws -> StoredZone? {
        try zones([.number(number)]).first ?? nil
    }

    /// The living zone with that name.
    package func zone(named name: ZoneName, of owner: OwnerNumber) throws -> StoredZone? {
        try zones([.name(name, of: owner)]).first ?? nil
    }

    /// The living zone with that name, of the owner with that user record name.
    package func zone(
        named name: ZoneName, ofOwnerNamed owner: UserRecordName
    ) throws -> StoredZone? { try zones([.nameOfOwner(name, owner)]).first ?? nil }

    /// The owner's living zones.
    package func zones(of owner: OwnerNumber) throws -> [StoredZone] {
        try zones(of: owner, .living)
    }

    /// A page of the database feed.
    package func zones(
        of owner: OwnerNumber, changedAfter: Position, limit: Int
    ) throws -> [StoredZone] { try zones(of: owner, .changed(after: changedAfter, limit: limit)) }
}

/// What a write does with owners and zones.
package protocol ZoneWriting: ZoneReading {
    /// Makes zones, each at the next position, and answers in the names' order; no living zone may have one of the names.
    ///
    /// The owner is made with their first zone.
    ///
    /// A deleted zone with such a name leaves the database feed: the feed shows the new zone instead. The
    /// number of the deleted zone is never used again. So a token of the one is never a token of the other.
    func makeZones(
        named names: [ZoneName], ofOwnerNamed owner: UserRecordName
    ) throws -> [StoredZone]

    /// Hides zones and their records at once, each at the next position, and ends all sharing of them.
    ///
    /// `collect` removes what is stored of them later.
    func deleteZones(_ zones: [StoredZone]) throws
}

extension ZoneWriting {
    /// Makes one zone.
    package func makeZone(
        named name: ZoneName, ofOwnerNamed owner: UserRecordName
    ) throws -> StoredZone {
        guard let zone = try makeZones(named: [name], ofOwnerNamed: owner).first else {
            throw BrokenInvariant("each name of a zone to be made gives a zone: \(name.text)")
        }
        return zone
    }

    /// Hides one zone and its records.
    package func deleteZone(_ zone: StoredZone) throws { try deleteZones([zone]) }
}
