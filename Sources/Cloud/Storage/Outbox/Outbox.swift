import CloudModel

/// The place of a notice in a store's outbox: later notices have greater numbers, and none is used again.
package struct NoticeNumber: Hashable, Sendable, Comparable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }

    package static func < (left: NoticeNumber, right: NoticeNumber) -> Bool {
        left.value < right.value
    }
}

/// What the server checks again just before it sends a notice (rulings.md 58).
///
/// It checks whether the notice's user may still see what the notice tells of.
package struct NoticeCondition: Hashable, Sendable {
    /// The zone of another owner that the notice tells of; nil when it tells of no such zone.
    package var zone: ZoneNumber?
    /// The number of the type of the public record that the notice tells of; nil when it tells of none.
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
    /// Tells repeats from news: all notices of one change have the same (rulings.md 58).
    package var identifier: String
    package var scope: DatabaseScope
    package var condition: NoticeCondition
    /// A notice of the same destination and key that still waits is replaced by this one; nil for none.
    package var mergeKey: [UInt8]?
    /// Lets a push service replace this notice by a later one with the same value; nil for none.
    package var collapseID: String?
    /// The JSON that is sent: a webhook's own body, or else the payload (web-services.md §9).
    package var payload: [UInt8]
    /// The `traceparent` of the request that made the change; nil for none, and where nobody is to be told.
    package var trace: String?

    package init(
        destination: DestinationNumber, identifier: String, scope: DatabaseScope,
        condition: NoticeCondition = NoticeCondition(), mergeKey: [UInt8]? = nil,
        collapseID: String? = nil,
        payload: [UInt8], trace: String? = nil
    ) {
        self.trace = trace
        self.destination = destination
        self.identifier = identifier
        self.scope = scope
        self.condition = condition
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
    package let condition: NoticeCondition
    package let collapseID: String?
    package let payload: [UInt8]
    package let madeAt: Milliseconds
    /// As of `NewNotice`.
    package let trace: String?
    /// Why and when the server gave it up; nil while it waits.
    package var end: NoticeEnd?

    package init(
        number: NoticeNumber, destination: DestinationNumber, identifier: String,
        scope: DatabaseScope, condition: NoticeCondition = NoticeCondition(), collapseID: String?,
        payload: [UInt8], madeAt: Milliseconds, trace: String? = nil, end: NoticeEnd? = nil
    ) {
        self.trace = trace
        self.end = end
        self.number = number
        self.destination = destination
        self.identifier = identifier
        self.scope = scope
        self.condition = condition
        self.collapseID = collapseID
        self.payload = payload
        self.madeAt = madeAt
    }
}

/// That the server gave a notice up, which is a dead letter from then on.
package struct NoticeEnd: Sendable, Equatable {
    /// For operators.
    package let reason: String
    package let moment: Milliseconds

    package init(reason: String, at moment: Milliseconds) {
        self.reason = reason
        self.moment = moment
    }
}

/// What notices are looked for by.
package enum NoticeKeys: Sendable {
    /// Those that wait for a destination.
    case waiting(DestinationNumber)
    /// Those of a destination that were given up.
    case dead(DestinationNumber)
    /// Those that wait or were given up, and speak of a person or of that person's zones.
    case speakingOf(UserRecordName)
}

/// What is told of many notices, none of which is read.
package struct NoticeSummary: Sendable, Equatable {
    package let count: Int
    /// When the one was made that has been there for longest; nil for none.
    package let oldest: Milliseconds?
    /// Why and when the one that came last was given up; nil for none.
    package let lastEnd: NoticeEnd?

    package init(count: Int, oldest: Milliseconds?, lastEnd: NoticeEnd?) {
        self.count = count
        self.oldest = oldest
        self.lastEnd = lastEnd
    }
}

/// Whether notices wait or were given up.
package enum NoticeState: Sendable {
    case waiting
    /// Those that were given up.
    case dead
}

/// The notices that wait to be sent, as a read sees them.
package protocol OutboxReading: AnyObject {
    /// The notices that some keys lead to, after a number, in order, at most `limit` of them.
    func notices(
        _ keys: NoticeKeys, after number: NoticeNumber, limit: Int
    ) throws -> [StoredNotice]

    /// What is told of the notices for each destination, in their order; of all in the store together where that is nil.
    ///
    /// - Parameter countedMax: up to how many are counted of each.
    func noticeSummaries(
        _ state: NoticeState, for destinations: [DestinationNumber]?, countedMax: Int
    ) throws -> [NoticeSummary]
}

extension OutboxReading {
    /// The notices that wait for a destination.
    package func notices(
        for destination: DestinationNumber, after number: NoticeNumber, limit: Int
    ) throws -> [StoredNotice] {
        try notices(.waiting(destination), after: number, limit: limit)
    }

    /// What is told of all notices in the store.
    package func noticeSummary(_ state: NoticeState) throws -> NoticeSummary {
        guard let summary = try noticeSummaries(state, for: nil, countedMax: .max).first else {
            throw BrokenInvariant("nothing is told of all notices of a store")
        }
        return summary
    }
}

/// The outbox of a store: it keeps each notice from the transaction that made it until it has been sent.
package protocol OutboxWriting: OutboxReading {
    /// Puts a notice behind all that wait for its destination, and wakes everyone who waits for notices there.
    ///
    /// - Returns: how many notices wait for the destination now, counted up to `countedMax`.
    func enqueue(_ notice: NewNotice, countedMax: Int) throws -> Int

    /// Removes notices.
    func removeNotices(_ selection: NoticeSelection) throws

    /// Gives up a notice and keeps it among the dead letters.
    ///
    /// Each destination has at most `keptMax` dead letters; beyond that, the oldest are removed.
    func giveUp(_ number: NoticeNumber, reason: String, keptMax: Int) throws

    /// Puts dead letters of a destination back into the outbox, at most `limit` of them, in order.
    ///
    /// - Returns: how many.
    func replayDeadLetters(of destination: DestinationNumber, limit: Int) throws -> Int
}

/// Which notices are removed.
package enum NoticeSelection: Sendable {
    /// Of some, those that wait.
    case waiting([NoticeNumber])
    /// Those that wait for a destination, up to and including a number.
    case waitingFor(DestinationNumber, through: NoticeNumber)
    /// Some, whether they wait or were given up.
    case all([NoticeNumber])
}

extension OutboxWriting {
    /// Removes notices that have been sent.
    package func removeNotices(_ numbers: [NoticeNumber]) throws {
        try removeNotices(.waiting(numbers))
    }

    /// Removes the notices that wait for a destination, up to and including a number.
    package func removeNotices(
        for destination: DestinationNumber, through number: NoticeNumber
    ) throws { try removeNotices(.waitingFor(destination, through: number)) }

    /// Removes notices, whether they wait or were given up.
    package func forget(_ notices: [NoticeNumber]) throws { try removeNotices(.all(notices)) }
}
