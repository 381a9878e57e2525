#if PostgreSQL
    import CloudModel
    import Storage

    // What a write cannot do yet.
    extension PostgreSQLTransaction {
        func keepsTrees(_ zone: ZoneNumber) throws -> Bool { throw NotBuilt() }

        func makeShare(
            in zone: ZoneNumber, record: RecordNumber, root: RecordNumber?,
            publicPermission: SharePermission
        ) throws -> StoredShare { throw NotBuilt() }

        func save(_ share: StoredShare) throws { throw NotBuilt() }

        func save(
            _ requests: [StoredAccessRequest], settling users: [UserRecordName],
            of share: ShareNumber?
        ) throws { throw NotBuilt() }

        func endShare(_ share: ShareNumber) throws { throw NotBuilt() }

        func save(
            _ participants: [StoredParticipant], removing ids: [String], of share: ShareNumber
        ) throws { throw NotBuilt() }

        func set(
            _ permission: SharePermission?, of share: ShareNumber, for viewer: UserRecordName
        ) throws { throw NotBuilt() }

        func move(_ membership: MembershipMove) throws { throw NotBuilt() }

        func addReceipt(
            _ id: [UInt8], _ receipt: StoredReceipt, isInPlace: Bool
        ) throws -> Bool { throw NotBuilt() }

        func forgetUnusedAssets(
            _ digests: [AssetDigest], since moment: Milliseconds
        ) throws -> [AssetDigest] { throw NotBuilt() }

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

        func endReceipts(of identity: [UInt8], limit: Int) throws -> [AssetDigest] {
            throw NotBuilt()
        }
    }
#endif
