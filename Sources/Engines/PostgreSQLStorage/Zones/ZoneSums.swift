#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// What writes add to zones and to their owners.
    struct ZoneSums {
        /// By the zone, with its owner.
        private(set) var zones: [ZoneNumber: (owner: OwnerNumber, sum: ZoneSum)] = [:]
        /// The bytes; each owner of a zone is there.
        private(set) var owners: [OwnerNumber: Int64] = [:]

        var isEmpty: Bool { owners.isEmpty }

        mutating func add(_ sum: ZoneSum, to zone: StoredZone) {
            add(sum, to: zone.number, of: zone.owner)
            add(sum.bytes + sum.assetBytes, to: zone.owner)
        }

        mutating func add(_ bytes: Int64, to owner: OwnerNumber) {
            owners[owner, default: 0] += bytes
        }

        mutating func add(_ other: ZoneSums) {
            for (zone, added) in other.zones { add(added.sum, to: zone, of: added.owner) }
            for (owner, bytes) in other.owners { add(bytes, to: owner) }
        }

        private mutating func add(_ sum: ZoneSum, to zone: ZoneNumber, of owner: OwnerNumber) {
            zones[zone, default: (owner, ZoneSum())].sum.add(sum)
        }

        /// Those of some owners, and the others.
        func parted(_ some: Set<OwnerNumber>) -> (those: ZoneSums, others: ZoneSums) {
            var (those, others) = (ZoneSums(), ZoneSums())
            those.zones = zones.filter { some.contains($0.value.owner) }
            others.zones = zones.filter { !some.contains($0.value.owner) }
            those.owners = owners.filter { some.contains($0.key) }
            others.owners = owners.filter { !some.contains($0.key) }
            return (those, others)
        }

        /// Zones, last changes, records, bytes and bytes of assets.
        var zoneArrays: [Value] {
            let sums = zones.map { (number: $0.key.value, sum: $0.value.sum) }
            return [
                .numbers(sums.map(\.number)), .numbers(sums.map(\.sum.changed)),
                .numbers(sums.map(\.sum.records)), .numbers(sums.map(\.sum.bytes)),
                .numbers(sums.map(\.sum.assetBytes)),
            ]
        }

        /// Owners and bytes.
        var ownerArrays: [Value] {
            [.numbers(owners.keys.map(\.value)), .numbers(Array(owners.values))]
        }
    }
#endif
