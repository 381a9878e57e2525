import CloudModel

/// The place of a notice in a store's outbox: later ones are greater, and none is used again.
package struct NoticeNumber: Hashable, Sendable, Comparable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }

    package static func < (left: NoticeNumber, right: NoticeNumber) -> Bool {
        left.value < right.value
    }
}

/// What is asked again when a notice is about to be sent (rulings.md 58): whether its user may still see
/// what it tells of.
package struct NoticeGround: Hashable, Sendable {
    /// The zone of somebody else's that it tells of; nil for none in particular.
    package var zone: ZoneNumber?
    /// The number of the type of the public record that it tells of; nil for none.
    package var type: Int64?
    /// Whether the user made that record.
    package var isOwn: Bool

    package init(zone: ZoneNumber? = nil, type: Int64? = nil, isOwn: Bool = false) {
        self.zone = zone
        self.type = type
        self.isOwn = isOwn
    }
}

/// A notice to be put into the outbox.
package struct NewNotice: Sendable, Equatable {
    package var destination: DestinationNumber
    /// Tells repeats from news: all that tells of one change has the same (rulings.md 58).
    package var identifier: String
    package var scope: DatabaseScope
    package var ground: NoticeGround
    /// A waiting notice of the same destination and key makes way for this one; nil for none.
    package var mergeKey: [UInt8]?
    /// What a push service lets later notices take the place by; nil for none.
    package var collapseID: String?
    /// JSON as it goes out: of a webhook its own body, else the payload (web-services.md §9).
    package var payload: [UInt8]

    package init(
        destination: DestinationNumber, identifier: String, scope: DatabaseScope,
        ground: NoticeGround = NoticeGround(), mergeKey: [UInt8]? = nil, collapseID: String? = nil,
        payload: [UInt8]
    ) {
        self.destination = destination
        self.identifier = identifier
        self.scope = scope
        self.ground = ground
        self.mergeKey = mergeKey
        self.collapseID = collapseID
        self.payload = payload
    }
}

/// A notice that waits in the outbox.
package struct StoredNotice: Sendable, Equatable {
    package let number: NoticeNumber
    package let destination: DestinationNumber
    package let identifier: String
    package let scope: DatabaseScope
    package let ground: NoticeGround
    package let collapseID: String?
    package let payload: [UInt8]
    package let madeAt: Milliseconds

    package init(
        number: NoticeNumber, destination: DestinationNumber, identifier: String,
        scope: DatabaseScope, ground: NoticeGround = NoticeGround(), collapseID: String?,
        payload: [UInt8], madeAt: Milliseconds
    ) {
        self.number = number
        self.destination = destination
        self.identifier = identifier
        self.scope = scope
        self.ground = ground
        self.collapseID = collapseID
        self.payload = payload
        self.madeAt = madeAt
    }
}

/// A notice that was given up.
package struct DeadLetter: Sendable, Equatable {
    package let notice: StoredNotice
    /// Why; for operators.
    package let reason: String
    package let diedAt: Milliseconds

    package init(notice: StoredNotice, reason: String, diedAt: Milliseconds) {
        self.notice = notice
        self.reason = reason
        self.diedAt = diedAt
    }
}

/// What waits to be told, as a read sees it.
package protocol OutboxReading: AnyObject {
    /// What waits for a destination after a number, in order, at most `limit` notices.
    func notices(
        for destination: DestinationNumber, after number: NoticeNumber, limit: Int
    ) throws -> [StoredNotice]

    /// How many notices wait in the store, and when the oldest was made.
    func outboxState() throws -> (count: Int, oldest: Milliseconds?)

    /// What was given up of a destination's, in order, at most `limit` notices.
    func deadLetters(
        of destination: DestinationNumber, after number: NoticeNumber, limit: Int
    ) throws -> [DeadLetter]
}

/// The outbox of a store: what is to be told, from the transaction that found it out until it has been told.
package protocol OutboxWriting: OutboxReading {
    /// Puts a notice behind all that wait for its destination, and wakes who waits for that.
    ///
    /// - Returns: how many wait for the destination now, counted up to `countedMax`.
    func enqueue(_ notice: NewNotice, countedMax: Int) throws -> Int

    /// Which databases the notices are of that wait for a destination.
    func waitingScopes(for destination: DestinationNumber) throws -> [DatabaseScope]

    /// Removes notices that have been told.
    func removeNotices(_ numbers: [NoticeNumber]) throws

    /// Removes what waits for a destination through a number.
    func removeNotices(for destination: DestinationNumber, through number: NoticeNumber) throws

    /// Gives a notice up, and keeps it among the dead letters, of which each destination has at most
    /// `keptMax`: the oldest go.
    func giveUp(_ number: NoticeNumber, reason: String, keptMax: Int) throws

    /// Puts dead letters of a destination back into the outbox, at most `limit`, in order.
    ///
    /// - Returns: how many.
    func replayDeadLetters(of destination: DestinationNumber, limit: Int) throws -> Int
}
