import Testing

/// A client that follows one zone, page by page, and what it must be shown.
struct ModelFollower {
    let client: WireClient
    let zone: String
    private var token: String?
    private var generation: Int?
    /// Bodies by record name.
    private var replica: [String: String] = [:]
    /// The zone's last change when the token was given; nil in the middle of pages.
    private var syncedAt: Int?
    /// The zone's last change when reading backwards began.
    private var reversedAt: Int?

    init(client: WireClient, zone: String) {
        self.client = client
        self.zone = zone
    }

    mutating func forget() { self = ModelFollower(client: client, zone: zone) }

    /// Reads one page and holds it to the model.
    ///
    /// - Throws: `WireFailure` that says what is not as it must be.
    mutating func read(limit: Int, reverse: Bool, _ database: ModelDatabase) throws {
        let page = try client.changes(
            zone, after: token, limit: limit, more: "\"reverse\":\(reverse)")
        guard let model = database.zones[zone] else {
            try expect(page.code == "ZONE_NOT_FOUND", "a missing zone", page)
            return forget()
        }
        if token != nil, generation != model.generation {
            try expect(page["changeTokenExpired"].bool == true, "a token of an earlier zone", page)
            return forget()
        }
        if let syncedAt, token != nil {
            let isExpired = page["changeTokenExpired"].bool == true
            try expect(
                isExpired == (syncedAt < model.forgotten),
                "token at \(syncedAt), forgotten through \(model.forgotten)", page)
            if isExpired { return forget() }
        } else if page["changeTokenExpired"].bool == true {
            try expect(model.forgotten > 0 && token != nil, "an expired token", page)
            return forget()
        }
        try expect(page.code == nil, "a page", page)
        try compare(page, limit: limit, reverse: reverse, model)
        take(page, reverse: reverse, model)
        if page["moreComing"].bool == false { try finish(page, reverse: reverse, model) }
    }

    /// What must be shown is known from the beginning and from where everything was shown.
    private func compare(
        _ page: AnswerPart, limit: Int, reverse: Bool, _ model: ModelDatabase.Zone
    ) throws {
        let shown = page["records"].elements
        for item in shown {
            let name = item.name ?? ""
            if item["deleted"].bool == true {
                try expect(
                    model.tombstones[name]?.type == item["deletedRecordType"].string, "a deletion",
                    item)
            } else {
                try expect(model.records[name]?.raw == item.raw, "the record as saved", item)
            }
        }
        guard token == nil || syncedAt != nil else { return }
        let start = syncedAt ?? 0
        var changes = model.records.values.map(\.changed).filter { $0 > start }
        if token != nil {
            changes += model.tombstones.values.map(\.changed).filter { $0 > start }
        }
        changes.sort(by: reverse ? { $0 > $1 } : { $0 < $1 })
        let found = shown.map { item -> Int in
            let name = item.name ?? ""
            return model.records[name]?.changed ?? model.tombstones[name]?.changed ?? -1
        }
        try expect(found == Array(changes.prefix(limit)), "changes \(changes), not \(found)", page)
    }

    private mutating func take(_ page: AnswerPart, reverse: Bool, _ model: ModelDatabase.Zone) {
        for item in page["records"].elements {
            replica[item.name ?? ""] = item["deleted"].bool == true ? nil : item.raw
        }
        if !reverse {
            reversedAt = nil
        } else if reversedAt == nil {
            reversedAt = model.changed
        }
        token = page["syncToken"].string
        generation = model.generation
        syncedAt = nil
    }

    private mutating func finish(
        _ page: AnswerPart, reverse: Bool, _ model: ModelDatabase.Zone
    ) throws {
        syncedAt = reversedAt ?? model.changed
        reversedAt = nil
        // What changed while one read backwards comes when one reads on.
        guard syncedAt == model.changed else { return }
        let living = model.records.mapValues(\.raw)
        try expect(replica == living, "\(living.keys.sorted()), not \(replica.keys.sorted())", page)
    }

    private func expect(_ isRight: Bool, _ what: String, _ page: AnswerPart) throws {
        guard isRight else {
            throw WireFailure("\(zone) of \(client.email): expected \(what) in \(page.raw)")
        }
    }
}

/// A client that follows a database's zones.
struct ModelZonesFollower {
    let client: WireClient
    private var token: String?
    private var replica: Set<String> = []
    private var syncedAt: Int?

    init(client: WireClient) { self.client = client }

    mutating func read(limit: Int, _ database: ModelDatabase) throws {
        let page = try client.databaseChanges(after: token, limit: limit)
        let isExpired = page["changeTokenExpired"].bool == true
        if let syncedAt {
            try expect(
                isExpired == (syncedAt < database.forgotten),
                "token at \(syncedAt), forgotten through \(database.forgotten)", page)
        } else {
            try expect(!isExpired || token != nil && database.forgotten > 0, "no expiry", page)
        }
        if isExpired {
            self = ModelZonesFollower(client: client)
            return
        }
        try expect(page.status == 200, "a page", page)
        let living = database.zones.values.filter { $0.name != "_defaultZone" }
        for item in page.zones {
            let name = item["zoneID"]["zoneName"].string ?? ""
            let isDeleted = item["deleted"].bool == true
            try expect(
                living.contains { $0.name == name } != isDeleted
                    && (!isDeleted || database.graves[name] != nil), "the zone as it is", page)
            if isDeleted { replica.remove(name) } else { replica.insert(name) }
        }
        if token == nil || syncedAt != nil {
            let start = syncedAt ?? 0
            var changes = living.map { ($0.changed, $0.name) }.filter { $0.0 > start }
            changes += database.graves.values.map { ($0.changed, $0.name) }.filter { $0.0 > start }
            changes.sort { $0.0 < $1.0 }
            let hidden = token == nil ? Set(database.graves.keys) : []
            // One cascade may change several zones, in any order.
            let expected = changes.prefix(limit).filter { !hidden.contains($0.1) }.map(\.0)
            let numbers = Dictionary(uniqueKeysWithValues: changes.map { ($0.1, $0.0) })
            let found = page.zones.map { numbers[$0["zoneID"]["zoneName"].string ?? ""] ?? -1 }
            try expect(found == expected, "\(expected) of \(changes)", page)
        }
        token = page["syncToken"].string
        guard page["moreComing"].bool == false else {
            syncedAt = nil
            return
        }
        syncedAt = database.counter
        try expect(replica == Set(living.map(\.name)), "all zones, not \(replica)", page)
    }

    private func expect(_ isRight: Bool, _ what: String, _ page: Answer) throws {
        guard isRight else {
            throw WireFailure("zones of \(client.email): expected \(what) in \(page.text)")
        }
    }
}
