#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    // What shares say, as far as the group knows it: nothing of that is asked for again.
    extension PostgreSQLTransaction {
        private var known: KnownShares { group.known.shares }

        // MARK: - Shares

        /// The shares of some keys; nil where not all of them are known.
        func knownShares(_ keys: ShareKeys) throws -> [StoredShare?]? {
            switch keys {
            case .numbers, .records: return nil
            case .roots(let roots):
                return all(roots) { root in
                    known.own(root).map { $0?.root == root ? $0 : nil }
                }
            case .rootsOrRecords(let records):
                let unknown = records.filter { known.own($0) == nil }
                let found = try unknown.isEmpty ? [] : readShares(.rootsOrRecords(unknown))
                for (record, share) in zip(unknown, found) {
                    group.known.shares.note(share, own: record)
                }
                return records.map { known.own($0) ?? nil }
            case .zones(let zones, let limit, let ofEach):
                guard ofEach == 1 || limit == 1 && zones.count == 1 else { return nil }
                return all(zones, first).map { Array($0.lazy.filter { $0 != nil }.prefix(limit)) }
            }
        }

        /// One standing share of a zone, if that is known.
        private func first(in zone: ZoneNumber) -> StoredShare?? {
            known.first(in: zone) ?? (isUnshared(zone) ? .some(nil) : nil)
        }

        /// Whether it is known that nothing in a zone is shared.
        func isUnshared(_ zone: ZoneNumber) -> Bool {
            known.firstRecord != nil && group.known.sharing[zone]?.contains(.shares) == false
        }

        /// Asks for shares, and notes those of zones.
        func learnShares(_ keys: ShareKeys) throws -> [StoredShare?] {
            let found = try readShares(keys)
            if case .zones(let zones, _, _) = keys, zones.count == 1 {
                group.known.shares.note(found.first ?? nil, firstIn: zones[0])
            }
            return found
        }

        // MARK: - Viewers

        /// What a viewer has of a zone, as it is at this point of the group.
        private func sight(_ viewer: UserRecordName, in zone: ZoneNumber) -> KnownShares.Sight? {
            known.sights[KnownShares.SightKey(viewer: viewer, zone: zone)]?
                .reaching(group.changes, in: zone).reaching(job, in: zone)
        }

        func knownViews(
            of viewer: UserRecordName, _ selection: ViewSelection
        ) -> [StoredView]? {
            guard case .zones(let zones) = selection else { return nil }
            let numbers = Set(zones).sorted { $0.value < $1.value }
            return all(numbers) { zone in sight(viewer, in: zone).map(\.view) }?
                .compactMap { $0 }
        }

        func knownGrants(_ keys: [GrantKey]) -> [[StoredGrant]]? {
            all(keys) { key in
                guard case .shares(let shares) = key.selection else { return nil }
                return all(shares) { share -> StoredGrant?? in
                    known.zone(of: share).flatMap { sight(key.viewer, in: $0) }
                        .map { $0.grants[share] }
                }?.compactMap { $0 }
            }
        }

        // MARK: - Memberships

        /// Asks for the memberships of those records of which they are not known, and for the shares of which the
        /// records are the roots, which is asked next; one round trip, or none.
        func learnMemberships(of records: [RecordNumber]) throws {
            let unknown = Array(Set(records.filter { known.membership(of: $0) == nil }))
            guard !unknown.isEmpty else { return }
            let answers = try ask([membershipsQuery(unknown)] + ownQueries(unknown))
            let memberships = memberships(answers[0], of: unknown.count)
            let own = try ownShares(Array(answers.dropFirst()), of: unknown.count)
            for (record, (membership, share)) in zip(unknown, zip(memberships, own)) {
                group.known.shares.note(membership, of: record)
                group.known.shares.note(share, own: record)
            }
        }

        /// Notes how a record's membership moves.
        func noteMove(_ move: MembershipMove) {
            group.known.shares.note(
                move.next.map { CurrentMembership(share: $0.share, position: move.position) },
                of: move.record)
        }

        /// What to ask beside records of a zone with trees, where nobody has to be told of changes first.
        func sharesQueries(_ names: [RecordName], in zone: ZoneNumber) -> [Query] {
            guard known.firstRecord != nil, group.known.sharing[zone]?.contains(.trees) == true
            else { return [] }
            return [SharesOfNames.query(names, in: zone, store)]
        }

        // MARK: - Trees

        func knownWork(_ keys: [CoverageWorkKey]) -> [Position?]? {
            all(keys) { key in
                guard case .zone(let zone) = key else { return nil }
                return known.work(in: zone)
            }
        }

        func learnWork(_ keys: [CoverageWorkKey]) throws -> [Position?] {
            let found = try readCoverageWork(keys)
            for case (.zone(let zone), let since) in zip(keys, found) {
                group.known.shares.note(since, workIn: zone)
            }
            return found
        }

        /// The links of records to their parents; nil where other links are asked for, or not all of them are known.
        func knownParents(
            of records: [RecordNumber], _ kinds: ClosedRange<LinkKind>
        ) -> [[Link]]? {
            guard kinds == .parent ... .parent else { return nil }
            return all(records) { record in
                (job.links[record] ?? group.changes.links[record])
                    .map { $0.filter { $0.kind == .parent } } ?? known.parents(of: record)
            }
        }

        /// Whether it is known of all of some names that no record gives them as its parent.
        func areChildless(_ names: [RecordName], in zone: ZoneNumber) -> Bool {
            names.allSatisfy { known.isChildless(RecordKey(zone: zone, name: $0)) }
        }

        /// What is known of each key; nil unless it is known of all.
        private func all<Key, Value>(
            _ keys: [Key], _ known: (Key) -> Value?
        ) -> [Value]? {
            var found: [Value] = []
            for key in keys {
                guard let value = known(key) else { return nil }
                found.append(value)
            }
            return found
        }
    }
#endif
