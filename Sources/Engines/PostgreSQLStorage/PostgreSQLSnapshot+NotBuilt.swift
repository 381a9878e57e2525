#if PostgreSQL
    import CloudModel
    import Storage

    // What a read cannot be asked yet.
    extension PostgreSQLSnapshot {
        func shares(_ keys: ShareKeys) throws -> [StoredShare?] { throw NotBuilt() }

        func participants(_ key: ParticipantKey) throws -> [(ShareNumber, StoredParticipant)] {
            throw NotBuilt()
        }

        func accessRequests(_ key: AccessRequestKey) throws -> [StoredAccessRequest] {
            throw NotBuilt()
        }

        func shortGUID(_ key: ShortGUIDKey) throws -> StoredShortGUID? { throw NotBuilt() }

        func grants(
            of viewer: UserRecordName, _ selection: GrantSelection
        ) throws -> [StoredGrant] { throw NotBuilt() }

        func views(
            of viewer: UserRecordName, _ selection: ViewSelection
        ) throws -> [StoredView] { throw NotBuilt() }

        func viewer(_ name: UserRecordName) throws -> StoredViewer { throw NotBuilt() }

        func currentMemberships(of records: [RecordNumber]) throws -> [CurrentMembership?] {
            throw NotBuilt()
        }

        func memberships(
            of share: ShareNumber, in zone: ZoneNumber, after: Position, limit: Int,
            withVersions: Bool
        ) throws -> MembershipRun { throw NotBuilt() }

        func changedMemberships(
            of viewer: UserRecordName, in zone: ZoneNumber, after: Position, limit: Int
        ) throws -> MembershipRun? { throw NotBuilt() }

        func coverageWork(_ key: CoverageWorkKey) throws -> Position? { throw NotBuilt() }

        func page(
            of query: StoreQuery, _ visit: (StoredVersion) throws -> Void
        ) throws -> QueryCursor? { throw NotBuilt() }

        func words(in text: String) throws -> [[UInt8]] { throw NotBuilt() }

        func assetReceipts(_ ids: [[UInt8]]) throws -> [StoredReceipt?] { throw NotBuilt() }

        func assetBytes(of records: [RecordNumber]) throws -> [Int] { throw NotBuilt() }

        func assets(_ selection: AssetSelection) throws -> [AssetDigest] { throw NotBuilt() }

        func subscriptions(_ keys: SubscriptionKeys) throws -> [WatchingSubscription] {
            throw NotBuilt()
        }

        func allSubscriptions(
            of user: UserRecordName?, _ request: ListRequest
        ) throws -> ListPage<WatchingSubscription> { throw NotBuilt() }

        func subscriptionRevision() throws -> Int64 { throw NotBuilt() }

        func fieldsRequired(of type: RecordTypeName) throws -> [String] { throw NotBuilt() }

        func watchers(ofShared zone: ZoneNumber) throws -> [UserRecordName] { throw NotBuilt() }

        func position(of follower: FollowerName) throws -> Position? { throw NotBuilt() }

        func changes(
            after position: Position, limit: Int, _ visit: (FollowedChange) throws -> Bool
        ) throws -> Position? { throw NotBuilt() }

        func destinations(_ keys: DestinationKeys) throws -> [StoredDestination] {
            throw NotBuilt()
        }

        func notices(
            _ keys: NoticeKeys, after number: NoticeNumber, limit: Int
        ) throws -> [StoredNotice] { throw NotBuilt() }

        func noticeSummary(
            _ state: NoticeState, for destination: DestinationNumber?, countedMax: Int
        ) throws -> NoticeSummary { throw NotBuilt() }
    }
#endif
