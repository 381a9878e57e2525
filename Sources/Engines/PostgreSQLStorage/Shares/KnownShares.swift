#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// What a group knows of sharing, as its writes have left it.
    ///
    /// A write that makes, changes or ends a share has all of it forgotten: such writes are rare, and what is asked for
    /// behind them comes from the server again.
    struct KnownShares {
        /// What a viewer has of a zone.
        struct Sight {
            /// Nil where they have never seen the zone.
            var view: StoredView?
            /// All that stand.
            var grants: [ShareNumber: StoredGrant] = [:]
            /// Those of them that are of shares of the whole zone.
            var whole: Set<ShareNumber> = []
        }

        struct SightKey: Hashable {
            let viewer: UserRecordName
            let zone: ZoneNumber
        }

        /// The number from which on the group makes records; nil once something has been forgotten.
        ///
        /// What the server says is then what it said when the group began, but for what is noted here.
        private(set) var firstRecord: RecordNumber?
        private var memberships: [RecordNumber: CurrentMembership?] = [:]
        /// The standing share of which a record is the root, or else the share record.
        private var own: [RecordNumber: StoredShare?] = [:]
        /// One standing share of a zone; nil for a zone without.
        private var first: [ZoneNumber: StoredShare?] = [:]
        /// Since when work on the trees of a zone is under way.
        private var work: [ZoneNumber: Position?] = [:]
        private(set) var sights: [SightKey: Sight] = [:]
        private var zones: [ShareNumber: ZoneNumber] = [:]
        /// The links of records to their parents, as the server has been told of them.
        private var parents: [RecordNumber: [Link]] = [:]
        /// Names that no record gives as its parent.
        private var childless: Set<RecordKey> = []

        /// What nobody has changed since the group began.
        init(firstRecord: RecordNumber? = nil) { self.firstRecord = firstRecord }

        /// Whether the group has made a record, and no share concerns it but what is noted here.
        private func isNew(_ record: RecordNumber) -> Bool {
            firstRecord.map { record.value >= $0.value } ?? false
        }

        // MARK: - What is known; nil for what is not

        func membership(of record: RecordNumber) -> CurrentMembership?? {
            memberships[record] ?? (isNew(record) ? .some(nil) : nil)
        }

        func own(_ record: RecordNumber) -> StoredShare?? {
            own[record] ?? (isNew(record) ? .some(nil) : nil)
        }

        func first(in zone: ZoneNumber) -> StoredShare?? { first[zone] }

        func work(in zone: ZoneNumber) -> Position?? { work[zone] }

        func zone(of share: ShareNumber) -> ZoneNumber? { zones[share] }

        func parents(of record: RecordNumber) -> [Link]? { parents[record] }

        func isChildless(_ key: RecordKey) -> Bool { childless.contains(key) }

        // MARK: - What is learned

        mutating func note(_ membership: CurrentMembership?, of record: RecordNumber) {
            memberships.updateValue(membership, forKey: record)
        }

        mutating func note(_ share: StoredShare?, own record: RecordNumber) {
            own.updateValue(share, forKey: record)
            if let share { zones[share.number] = share.zone }
        }

        mutating func note(_ share: StoredShare?, firstIn zone: ZoneNumber) {
            first.updateValue(share, forKey: zone)
            if let share { zones[share.number] = zone }
        }

        mutating func note(_ since: Position?, workIn zone: ZoneNumber) {
            work.updateValue(since, forKey: zone)
        }

        mutating func note(_ sight: Sight, _ key: SightKey) {
            sights[key] = sight
            for share in sight.grants.keys { zones[share] = key.zone }
        }

        mutating func note(_ links: [Link], parentsOf record: RecordNumber) {
            parents[record] = links
        }

        mutating func note(childless key: RecordKey) { childless.insert(key) }

        mutating func note(_ share: ShareNumber, in zone: ZoneNumber) { zones[share] = zone }

        // MARK: - What the group's writes change

        mutating func forget() { self = KnownShares() }

        mutating func forgetSights() { sights = [:] }

        mutating func forgetWork() { work = [:] }

        /// Takes over links that are written.
        mutating func link(_ links: [Link]) {
            guard !childless.isEmpty else { return }
            for link in links {
                childless.remove(RecordKey(zone: link.targetZone, name: link.target))
            }
        }

        /// Takes over what the server has been told.
        mutating func add(_ changes: StoreChanges) {
            if !parents.isEmpty {
                for (record, links) in changes.links where parents[record] != nil {
                    parents[record] = links.filter { $0.kind == .parent }
                }
            }
            guard !sights.isEmpty else { return }
            for (key, sight) in sights { sights[key] = sight.reaching(changes, in: key.zone) }
        }
    }

    extension KnownShares.Sight {
        /// As changes leave it of which the server tells viewers at the group's end.
        func reaching(_ changes: StoreChanges, in zone: ZoneNumber) -> KnownShares.Sight {
            var reached = self
            for (share, grant) in grants {
                let ofZone =
                    whole.contains(share) ? changes.sums.zones[zone]?.sum.changed ?? 0 : 0
                let changed = max(changes.shares[share] ?? 0, ofZone)
                guard changed > 0 else { continue }
                reached.grants[share] = grant.reaching(changed)
                reached.view = reached.view?.reaching(changed)
            }
            return reached
        }
    }

    extension StoredGrant {
        fileprivate func reaching(_ position: Position) -> StoredGrant {
            StoredGrant(
                share: share, zone: zone, permission: permission, granted: granted,
                revoked: revoked, changed: max(changed, position))
        }
    }

    extension StoredView {
        fileprivate func reaching(_ position: Position) -> StoredView {
            StoredView(
                zone: zone, since: since, ended: ended, changed: max(changed, position),
                oldestValidPosition: oldestValidPosition)
        }
    }
#endif
