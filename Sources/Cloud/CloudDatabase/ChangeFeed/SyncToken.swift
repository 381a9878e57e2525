import CloudModel
import Cryptography
import Storage

/// A place in a feed, as a client stores it (rulings.md 27).
///
/// It names the store's incarnation, the viewer, the database, the zone and the zone's generation, and it is
/// authenticated. So a token of another place is refused, never misread.
struct SyncToken: Equatable {
    enum Feed: UInt8 { case zone = 1, database = 2 }

    /// How far an answer of several pages has come.
    enum Cursor: Equatable {
        /// Everything up to the position has been shown.
        case none
        /// A first fetch: the client never saw what was deleted up to this position, so these deletions are
        /// not shown.
        case first(through: Position)
        /// In the middle of one place just after the position; for example, a share that came with all its
        /// records.
        ///
        /// Those with memberships up to `after` were shown.
        case inside(feedPosition: Position, after: Position)
        /// Newest first: what lies between the position and `before` is still to be shown.
        ///
        /// The feed then goes on after `until`.
        case reverse(before: Position, until: Position)
    }

    var feed: Feed
    var incarnation: Int64
    /// 0 for a database feed.
    var zone: ZoneNumber
    /// The position from which a viewer has seen a zone of the shared database; 0 in other databases.
    var view: Position = 0
    /// Tells a zone from an earlier one of the same name.
    var zoneHash: UInt64
    var position: Position
    var cursor: Cursor = .none

    /// The last position that the token speaks of; a store that has lost it knows less than the token says.
    var reach: Position {
        let last: Position =
            switch cursor {
            case .none: 0
            case .first(let through): through
            case .inside(let feedPosition, let after): max(feedPosition, after)
            // What lies before `before` was shown, but not `before` itself.
            case .reverse(let before, let until): max(before - 1, until)
            }
        return max(position, view, last)
    }

    /// The store must still know every deletion after this position.
    var oldestNeeded: Position {
        switch cursor {
        case .none, .inside: position
        case .first(let through): max(position, through)
        case .reverse(_, let until): position == 0 ? until : position
        }
    }
}

/// Writes and reads the tokens of one viewer in one database.
struct SyncTokens {
    private static let format: UInt8 = 1
    private static let codeBytes = 16
    private static let payloadBytes = 2 + 8 + 16 + 1 + 8 + 8 + 8 + 1 + 8 + 8 + 8

    let identity: StoreIdentity
    private let key: HMACSHA256
    private let viewer: [UInt8]
    private let scope: UInt8

    /// - Parameters:
    ///   - key: prepared from the store's token key.
    ///   - identity: from the snapshot whose places the tokens name.
    init(_ database: Database, key: HMACSHA256, identity: StoreIdentity) {
        self.identity = identity
        self.key = key
        let name = database.caller.userRecordName?.text ?? ""
        viewer = Hexadecimal.decode(String(name.dropFirst())) ?? [UInt8](repeating: 0, count: 16)
        scope = UInt8(database.scope.number)
    }

    /// - Parameter start: the token with which the page began, as read and as sent. A client that asks what
    ///   is new mostly gets the same token again.
    func token(
        _ feed: SyncToken.Feed, zone: StoredZone?, view: StoredView? = nil, position: Position,
        cursor: SyncToken.Cursor = .none, from start: (token: SyncToken, text: String?)? = nil
    ) -> String {
        var token = SyncToken(
            feed: feed, incarnation: identity.incarnation,
            zone: zone?.number ?? ZoneNumber(0), view: view?.since ?? 0,
            zoneHash: Self.zoneHash(zone?.name),
            position: position, cursor: cursor)
        token.incarnation = identity.incarnation(reaching: token.reach)
        if let start, let sent = start.text, !sent.isEmpty, start.token == token { return sent }
        return text(token)
    }

    func text(_ token: SyncToken) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.payloadBytes + Self.codeBytes)
        bytes.append(Self.format)
        bytes.append(token.feed.rawValue)
        Self.append(token.incarnation, to: &bytes)
        bytes.append(contentsOf: viewer)
        bytes.append(scope)
        Self.append(token.zone.value, to: &bytes)
        Self.append(Int64(bitPattern: token.zoneHash), to: &bytes)
        Self.append(token.position, to: &bytes)
        let (kind, first, second): (UInt8, Position, Position) =
            switch token.cursor {
            case .none: (0, 0, 0)
            case .first(let through): (1, through, 0)
            case .reverse(let before, let until): (2, before, until)
            case .inside(let feedPosition, let after): (3, feedPosition, after)
            }
        bytes.append(kind)
        Self.append(first, to: &bytes)
        Self.append(second, to: &bytes)
        Self.append(token.view, to: &bytes)
        bytes.append(contentsOf: key.code(for: bytes, bytes: Self.codeBytes))
        return Base64.encode(bytes)
    }

    /// Reads a token for one feed of this viewer.
    ///
    /// - Parameters:
    ///   - zone: the zone as it is now; nil for the database feed.
    ///   - view: the zone as the viewer of a shared database has it.
    /// - Throws: `Fault` BAD_REQUEST for a token that is unreadable, forged, of another place, or expired. A
    ///   token has expired when its zone was an earlier one of that name, when its position is before
    ///   `oldestValidPosition`, or when the store has not come so far.
    func read(
        _ text: String, _ feed: SyncToken.Feed, zone: StoredZone?, view: StoredView? = nil,
        oldestValidPosition: Position
    ) throws(Fault) -> SyncToken {
        guard let bytes = Base64.decode(text), bytes.count == Self.payloadBytes + Self.codeBytes,
            key.isValid(
                Array(bytes.suffix(Self.codeBytes)), for: Array(bytes.prefix(Self.payloadBytes))),
            bytes[0] == Self.format, bytes[1] == feed.rawValue,
            Array(bytes[10..<26]) == viewer, bytes[26] == scope
        else { throw .unknownToken }
        let cursor: SyncToken.Cursor =
            switch bytes[51] {
            case 1: .first(through: Self.number(bytes, at: 52))
            case 2:
                .reverse(before: Self.number(bytes, at: 52), until: Self.number(bytes, at: 60))
            case 3:
                .inside(feedPosition: Self.number(bytes, at: 52), after: Self.number(bytes, at: 60))
            default: .none
            }
        let token = SyncToken(
            feed: feed, incarnation: Self.number(bytes, at: 2),
            zone: ZoneNumber(Self.number(bytes, at: 27)), view: Self.number(bytes, at: 68),
            zoneHash: UInt64(bitPattern: Self.number(bytes, at: 35)),
            position: Self.number(bytes, at: 43), cursor: cursor)
        guard token.zoneHash == Self.zoneHash(zone?.name) else { throw .unknownToken }
        try checkIncarnation(token)
        guard token.zone == zone?.number ?? ZoneNumber(0) else {
            throw .changeTokenExpired("the zone was deleted and made anew; start without a token")
        }
        guard token.view == view?.since ?? 0 else {
            throw .changeTokenExpired("the zone was out of sight since; start without a token")
        }
        guard token.oldestNeeded >= oldestValidPosition else {
            throw .changeTokenExpired("deletions since then are no longer kept")
        }
        return token
    }

    private func checkIncarnation(_ token: SyncToken) throws(Fault) {
        // The authentication code proves that the token is of this store. So what the store does not know was
        // lost.
        guard identity.knows(token.incarnation, through: token.reach) else {
            throw .changeTokenExpired("the server has gone back to an earlier state")
        }
    }

    private static func zoneHash(_ name: ZoneName?) -> UInt64 {
        guard let name else { return 0 }
        // FNV-1a: it only has to tell names apart within an authenticated token.
        return name.text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    private static func append(_ value: Int64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private static func number(_ bytes: [UInt8], at start: Int) -> Int64 {
        bytes[start..<(start + 8)].reduce(0) { $0 << 8 | Int64($1) }
    }
}
