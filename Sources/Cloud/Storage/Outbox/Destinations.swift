import CloudModel

/// The number of a destination within one store; never used again.
package struct DestinationNumber: Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }
}

/// How notices reach a destination.
package enum DestinationKind: Int64, Sendable, CaseIterable {
    /// The client fetches them itself, by long polls or an event stream.
    case courier = 1
    case apns = 2
    case webPush = 3
    /// A webhook of the container: it hears of every change, without a subscription.
    case webhook = 4
}

/// Where notices go: a device or a browser of a user, or a webhook of the container.
package struct StoredDestination: Sendable, Equatable {
    package let number: DestinationNumber
    package let kind: DestinationKind
    /// The key by which it is found, unique among destinations of its kind; for a courier, the SHA-256 of the
    /// token.
    package let key: [UInt8]
    /// The user whose destination it is; nil for a webhook.
    package let user: UserRecordName?
    /// The `clientId` with which it registered; nil when it gave none.
    ///
    /// It gets no notices of changes that this device made itself.
    package let device: String?
    /// What its sender needs to reach it: JSON that the sender defines, with secrets sealed.
    package let address: [UInt8]
    /// The session with which it ends; nil when it belongs to no session.
    package let session: [UInt8]?
    package let madeAt: Milliseconds
    /// When it was last registered or polled, to the hour.
    package let usedAt: Milliseconds
    /// The badge count from which the next notice with `shouldBadge` goes on.
    package let badge: Int64
    /// How many attempts in a row have failed.
    package let failures: Int
    /// When a sender may try it; nil while nothing waits for it.
    package let dueAt: Milliseconds?

    package init(
        number: DestinationNumber, kind: DestinationKind, key: [UInt8], user: UserRecordName?,
        device: String?, address: [UInt8], session: [UInt8]?, madeAt: Milliseconds,
        usedAt: Milliseconds, badge: Int64 = 0, failures: Int = 0,
        dueAt: Milliseconds? = nil
    ) {
        self.dueAt = dueAt
        self.number = number
        self.kind = kind
        self.key = key
        self.user = user
        self.device = device
        self.address = address
        self.session = session
        self.madeAt = madeAt
        self.usedAt = usedAt
        self.badge = badge
        self.failures = failures
    }
}

/// A destination to be registered.
package struct NewDestination: Sendable {
    package var kind: DestinationKind
    package var key: [UInt8]
    package var user: UserRecordName?
    package var device: String?
    package var address: [UInt8]
    package var session: [UInt8]?

    package init(
        kind: DestinationKind, key: [UInt8], user: UserRecordName?, device: String? = nil,
        address: [UInt8] = [], session: [UInt8]? = nil
    ) {
        self.kind = kind
        self.key = key
        self.user = user
        self.device = device
        self.address = address
        self.session = session
    }
}

/// What a read sees of destinations.
package protocol DestinationReading: AnyObject {
    /// The destinations that some keys lead to, in the order in which they were made unless the keys say another.
    func destinations(_ keys: DestinationKeys) throws -> [StoredDestination]
}

/// What destinations are looked for by.
package enum DestinationKeys: Sendable {
    case number(DestinationNumber)
    case key(DestinationKind, [UInt8])
    case user(UserRecordName)
    case kind(DestinationKind)
    /// Those of some kinds for which something waits and that a sender may try after one moment and by another, the
    /// longest due first.
    case due(Set<DestinationKind>, after: Milliseconds, by: Milliseconds, limit: Int)
    /// Those of a kind that nobody has used since a moment, the longest unused first.
    case unused(DestinationKind, since: Milliseconds, limit: Int)
}

extension DestinationReading {
    package func destination(_ number: DestinationNumber) throws -> StoredDestination? {
        try destinations(.number(number)).first
    }

    package func destination(_ kind: DestinationKind, key: [UInt8]) throws -> StoredDestination? {
        try destinations(.key(kind, key)).first
    }

    /// The destinations of a user.
    package func destinations(of user: UserRecordName) throws -> [StoredDestination] {
        try destinations(.user(user))
    }

    /// The destinations of a kind.
    package func destinations(ofKind kind: DestinationKind) throws -> [StoredDestination] {
        try destinations(.kind(kind))
    }

    /// Destinations of some kinds that are due, the longest due first.
    package func destinationsDue(
        _ kinds: Set<DestinationKind>, by moment: Milliseconds, limit: Int
    ) throws -> [StoredDestination] {
        try destinations(.due(kinds, after: .min, by: moment, limit: limit))
    }

    /// Destinations of every kind that are due, the longest due first.
    package func destinationsDue(
        by moment: Milliseconds, limit: Int
    ) throws -> [StoredDestination] {
        try destinationsDue(Set(DestinationKind.allCases), by: moment, limit: limit)
    }

    /// When, after a moment, a sender may try the next destination; nil while nothing waits for any then.
    package func nextDestinationMoment(
        after moment: Milliseconds = .min
    ) throws -> Milliseconds? {
        let all = Set(DestinationKind.allCases)
        return try destinations(.due(all, after: moment, by: .max, limit: 1)).first?.dueAt
    }
}

/// What a write does with destinations.
package protocol DestinationWriting: DestinationReading {
    /// Registers a destination at the transaction's moment, or renews the one with the same kind and key.
    ///
    /// A renewed destination takes over the new user, device, address and session. Its badge begins at 0
    /// again, and its failures are forgotten. Notices that wait for it stay if the user is the same; else
    /// they are removed.
    func register(_ destination: NewDestination) throws -> DestinationNumber

    /// Notes what has become of a destination.
    func change(_ destination: DestinationNumber, by change: DestinationChange) throws

    /// Removes destinations, all notices that wait for them, and their dead letters.
    ///
    /// - Returns: how many were removed.
    @discardableResult
    func removeDestinations(_ keys: DestinationKeys) throws -> Int
}

/// What becomes of a destination; the rest of it stays.
package struct DestinationChange: Sendable {
    /// Whether those who wait for its notices are woken, to look again.
    package var wakesWaiting = false
    /// Whether it was used now.
    package var isUsed = false
    /// The badge from which it counts on.
    package var badge: Int64?
    /// How an attempt to send to it went.
    package var attempt: SendingAttempt?

    package init(
        isUsed: Bool = false, badge: Int64? = nil, attempt: SendingAttempt? = nil,
        wakesWaiting: Bool = false
    ) {
        self.wakesWaiting = wakesWaiting
        self.isUsed = isUsed
        self.badge = badge
        self.attempt = attempt
    }
}

/// How an attempt to send to a destination went.
package struct SendingAttempt: Sendable {
    /// True counts one more failure in a row; false sets the count to 0.
    package let isFailure: Bool
    /// When a sender may try again, if something waits for it.
    package let next: Milliseconds

    package init(isFailure: Bool, next: Milliseconds) {
        self.isFailure = isFailure
        self.next = next
    }
}

extension DestinationWriting {
    /// Wakes those who wait for notices to a destination, so that they look again.
    package func wakeWaiting(for destination: DestinationNumber) throws {
        try change(destination, by: DestinationChange(wakesWaiting: true))
    }

    /// Notes that a destination was used now.
    package func use(_ destination: DestinationNumber) throws {
        try change(destination, by: DestinationChange(isUsed: true))
    }

    /// Sets the badge from which a destination counts on.
    package func setBadge(_ badge: Int64, of destination: DestinationNumber) throws {
        try change(destination, by: DestinationChange(badge: badge))
    }

    /// Notes how an attempt to send to a destination went.
    package func noteAttempt(
        at destination: DestinationNumber, isFailure: Bool, next moment: Milliseconds
    ) throws {
        let attempt = SendingAttempt(isFailure: isFailure, next: moment)
        try change(destination, by: DestinationChange(attempt: attempt))
    }

    /// Removes couriers that nobody has used since a moment.
    ///
    /// - Returns: how many were removed.
    package func removeCouriers(unusedSince moment: Milliseconds, limit: Int) throws -> Int {
        try removeDestinations(.unused(.courier, since: moment, limit: limit))
    }

    /// Removes one destination.
    package func removeDestination(_ number: DestinationNumber) throws {
        try removeDestinations(.number(number))
    }

    /// Removes all destinations of a user.
    package func removeDestinations(of user: UserRecordName) throws {
        try removeDestinations(.user(user))
    }
}
