#if PostgreSQL
    import CloudModel
    import Storage

    // What a read cannot be asked yet.
    extension PostgreSQLSnapshot {
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
