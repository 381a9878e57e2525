#if PostgreSQL
    import CloudModel
    import Storage

    // What a write cannot do yet.
    extension PostgreSQLTransaction {
        func save(
            _ subscription: Subscription, of owner: SubscriptionOwner,
            requiring match: SubscriptionMatch?
        ) throws { throw NotBuilt() }

        func deleteSubscription(_ id: SubscriptionID, of owner: SubscriptionOwner) throws {
            throw NotBuilt()
        }

        @discardableResult
        func follow(
            as follower: FollowerName, wanting wanted: Set<PreviousVersionNeed>, alone: Bool
        ) throws -> Position { throw NotBuilt() }

        func setPosition(_ position: Position?, of follower: FollowerName) throws {
            throw NotBuilt()
        }

        func register(_ destination: NewDestination) throws -> DestinationNumber {
            throw NotBuilt()
        }

        func change(_ destination: DestinationNumber, by change: DestinationChange) throws {
            throw NotBuilt()
        }

        @discardableResult
        func removeDestinations(_ keys: DestinationKeys) throws -> Int { throw NotBuilt() }

        func enqueue(_ notice: NewNotice, countedMax: Int) throws -> Int { throw NotBuilt() }

        func removeNotices(_ selection: NoticeSelection) throws { throw NotBuilt() }

        func giveUp(_ number: NoticeNumber, reason: String, keptMax: Int) throws {
            throw NotBuilt()
        }

        func replayDeadLetters(of destination: DestinationNumber, limit: Int) throws -> Int {
            throw NotBuilt()
        }

    }
#endif
