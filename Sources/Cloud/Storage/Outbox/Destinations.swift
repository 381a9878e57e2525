import CloudModel

/// A destination within one store; never used again.
package struct DestinationNumber: Hashable, Sendable {
    package let value: Int64

    package init(_ value: Int64) { self.value = value }
}

/// How notices come to a destination.
package enum DestinationKind: Int64, Sendable, CaseIterable {
    /// It asks for them itself, by long polls or an event stream.
    case courier = 1
    case apns = 2
    case webPush = 3
    /// Of the container: it hears of every change, whoever has subscribed.
    case webhook = 4

    /// Whether a sender carries notices there.
    package var isSentTo: Bool { self != .courier }
}

/// Where notices go: a device or a browser of a user, or a webhook of the container.
package struct StoredDestination: Sendable, Equatable {
    package let number: DestinationNumber
    package let kind: DestinationKind
    /// What it is found by: unique among those of its kind; for the courier the SHA-256 of the token.
    package let key: [UInt8]
    /// Whose it is; nil for a webhook.
    package let user: UserRecordName?
    /// The `clientId` that it registered with, whose changes it is not told; nil when it gave none.
    package let device: String?
    /// What its sender needs to reach it: JSON of the sender's own making, with secrets sealed.
    package let address: [UInt8]
    /// The session that it ends with; nil for one that is no session's.
    package let session: [UInt8]?
    package let madeAt: Milliseconds
    /// When it was last registered or polled, to the hour.
    package let usedAt: Milliseconds
    /// What the next notice with `shouldBadge` counts on from.
    package let badge: Int64
    /// How many attempts have failed, one after the other.
    package let failures: Int

    package init(
        number: DestinationNumber, kind: DestinationKind, key: [UInt8], user: UserRecordName?,
        device: String?, address: [UInt8], session: [UInt8]?, madeAt: Milliseconds,
        usedAt: Milliseconds, badge: Int64 = 0, failures: Int = 0
    ) {
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
    func destination(_ number: DestinationNumber) throws -> StoredDestination?

    func destination(_ kind: DestinationKind, key: [UInt8]) throws -> StoredDestination?

    /// Those of a user, in the order in which they were made.
    func destinations(of user: UserRecordName) throws -> [StoredDestination]

    /// Those of a kind, in the order in which they were made.
    func destinations(_ kind: DestinationKind) throws -> [StoredDestination]

    /// Those that a sender may try now because something waits for them, the longest due first.
    func destinationsDue(by moment: Milliseconds, limit: Int) throws -> [StoredDestination]

    /// When a sender may try the next destination; nil while nothing waits for any.
    func nextDestinationMoment() throws -> Milliseconds?
}

/// What a write does with destinations.
package protocol DestinationWriting: DestinationReading {
    /// Registers a destination at the transaction's moment, or renews the one with its kind and key: it
    /// takes over user, device, address and session, its badge begins at 0 again, and its failures are
    /// forgotten. What waits for it stays when it is the same user's, and goes when it is another's.
    func register(_ destination: NewDestination) throws -> DestinationNumber

    /// Notes that a destination is in use.
    func use(_ destination: DestinationNumber) throws

    /// Has those look again who wait for something for a destination.
    func wakeWaiting(for destination: DestinationNumber)

    /// Has a destination count on from a badge.
    func setBadge(_ badge: Int64, of destination: DestinationNumber) throws

    /// Removes a destination with all that waits for it, and its dead letters.
    func removeDestination(_ number: DestinationNumber) throws

    /// Removes all destinations of a user.
    func removeDestinations(of user: UserRecordName) throws

    /// Removes couriers that nobody has used since a moment, at most `limit` of them.
    ///
    /// - Returns: how many went.
    func removeCouriers(unusedSince moment: Milliseconds, limit: Int) throws -> Int

    /// Notes what came of an attempt to send to a destination.
    ///
    /// - Parameters:
    ///   - isFailure: whether it counts as one more failure in a row; else there are none.
    ///   - moment: when it may be tried next, should something wait for it.
    func noteAttempt(
        at destination: DestinationNumber, isFailure: Bool, next moment: Milliseconds) throws
}
