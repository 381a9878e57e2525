/// Names a subscription among those of one user in one database.
///
/// Clients choose it: 1 to 255 bytes of UTF-8 without control characters (ours; no source gives a rule).
package struct SubscriptionID: Hashable, Sendable {
    package let text: String

    package init?(_ text: String) {
        guard (1...255).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { return nil }
        self.text = text
    }
}

/// What a user waits to hear of (web-services.md §5.14).
package struct Subscription: Sendable, Equatable {
    package enum Kind: Int64, Sendable, CaseIterable {
        /// Records of one type that match a query.
        case query = 1
        /// Anything in one zone.
        case zone = 2
        /// Anything in any zone but the default one.
        case database = 3
    }

    /// What must happen to a record, for subscriptions of kind `query`.
    package struct Firing: OptionSet, Sendable, Hashable {
        package let rawValue: Int64

        package init(rawValue: Int64) { self.rawValue = rawValue }

        package static let create = Firing(rawValue: 1)
        package static let update = Firing(rawValue: 2)
        package static let delete = Firing(rawValue: 4)
    }

    package var id: SubscriptionID
    package var kind: Kind
    /// The type that the query names; of other kinds the one they are limited to, if any.
    package var recordType: RecordTypeName?
    /// The zone it is limited to; nil for all zones of the database.
    package var zone: ZoneName?
    package var firesOn: Firing
    /// Whether it goes once it has fired.
    package var firesOnce: Bool
    /// The `query` object as JSON without white space; nil for other kinds.
    package var query: [UInt8]?
    /// The `notificationInfo` object as JSON, its known keys in one order; nil for none.
    package var notificationInfo: [UInt8]?

    package init(
        id: SubscriptionID, kind: Kind, recordType: RecordTypeName? = nil, zone: ZoneName? = nil,
        firesOn: Firing = [], firesOnce: Bool = false, query: [UInt8]? = nil,
        notificationInfo: [UInt8]? = nil
    ) {
        self.id = id
        self.kind = kind
        self.recordType = recordType
        self.zone = zone
        self.firesOn = firesOn
        self.firesOnce = firesOnce
        self.query = query
        self.notificationInfo = notificationInfo
    }

    /// What it tells of: of subscriptions to the same, a user has one in a database.
    package struct Watched: Hashable, Sendable {
        let kind: Kind
        let recordType: RecordTypeName?
        let zone: ZoneName?
        let firesOn: Firing
        let query: [UInt8]?
    }

    package var watched: Watched {
        Watched(
            kind: kind, recordType: recordType, zone: zone, firesOn: firesOn, query: query)
    }
}
