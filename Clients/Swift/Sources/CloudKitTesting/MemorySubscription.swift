import CloudKitWire

/// What somebody's devices are told of: a subscription as a server in memory keeps it.
struct MemorySubscription {
    /// Subscriptions are their owner's, also in the public database.
    struct Name: Hashable {
        let person: String
        let id: String
    }

    enum Kind: String {
        case query
        case zone
        case database
    }

    let name: Name
    let kind: Kind
    /// The subscription as it was saved.
    let text: [UInt8]
    /// The zone that is watched; nil for all.
    let zone: String?
    /// The type of the records that are watched; nil for all.
    let recordType: String?
    let firesOn: [String]
    let firesOnce: Bool
    let filters: [JSONView]
    let info: JSONView?

    /// - Throws: `MemoryFault` for what is no subscription of such a database.
    init(_ view: JSONView, of person: String, in scope: String) throws(MemoryFault) {
        guard let id = view["subscriptionID"]?.string,
            let kind = view["subscriptionType"]?.string.flatMap(Kind.init)
        else { throw Self.refusal("a subscription without its ID or type") }
        name = Name(person: person, id: id)
        self.kind = kind
        text = Array(view.text)
        let query = view["query"]
        recordType = (kind == .query ? query : view)?["recordType"]?.string
        filters = query?["filterBy"].map { Array($0.elements) } ?? []
        firesOn = view["firesOn"]?.elements.compactMap(\.string) ?? []
        firesOnce = view["firesOnce"]?.bool ?? false
        let isOfDefaultZone = kind == .query && view["zoneWide"]?.bool == false
        zone =
            view["zoneID"]?["zoneName"]?.string
            ?? (isOfDefaultZone ? MemoryDatabase.defaultZone : nil)
        info = view["notificationInfo"]
        let scopes: [String] =
            switch kind {
            case .query: ["public", "private"]
            case .zone: ["private"]
            case .database: ["private", "shared"]
            }
        guard scopes.contains(scope) else {
            throw Self.refusal("'\(kind.rawValue)' is not for the \(scope) database")
        }
        if kind == .query, firesOn.isEmpty || recordType == nil {
            throw Self.refusal("firesOn or the query is missing")
        }
        if kind == .zone, zone == nil { throw Self.refusal("zoneID is missing") }
    }

    private static func refusal(_ reason: String) -> MemoryFault {
        MemoryFault(code: "BAD_REQUEST", reason: "subscription: \(reason)")
    }

    /// Whether its owner is to hear of a change in a database that it is in.
    ///
    /// - Throws: `MemoryFault` for a query that the server in memory cannot answer.
    func isToFire(on change: MemoryChange) throws -> Bool {
        switch kind {
        case .query:
            guard let word = change.word, zone == nil || zone == change.zone,
                recordType == change.recordType, firesOn.contains(word)
            else { return false }
            // An update fires when the former or the new version matches.
            return try [change.now, change.previous].compactMap { $0 }.contains { stored in
                try filters.allSatisfy {
                    try MemoryRequest.matches(stored, change.recordName ?? "", $0)
                }
            }
        case .zone: return zone == change.zone && isOfMyType(change)
        case .database: return change.zone != MemoryDatabase.defaultZone && isOfMyType(change)
        }
    }

    private func isOfMyType(_ change: MemoryChange) -> Bool {
        recordType == nil || change.recordType == nil || recordType == change.recordType
    }
}
