import Seeding

extension SharingRun {
    // MARK: - Looking up

    /// Somebody looks up names of a zone that they may see or not: each as the model has it.
    func lookUp() throws {
        let user = random.one(of: users)
        let ownedZones = model.zones.keys.filter { people[$0.owner].recordName != nil }.sorted()
        let visible = ownedZones.filter { $0.owner != user && self.visible(user, $0) != nil }
        let ownedZone = random.happens(60) ? random.any(of: visible) : random.one(of: ownedZones)
        guard let ownedZone else { return }
        if random.happens(15) { return try listZones(user) }
        let names = (pool(ownedZone) + model.shares(in: ownedZone).map(\.name) + ["never"])
            .shuffled(using: &random).prefix(random.one(of: [1, 4, 20]))
        try lookUp(Array(names), in: ownedZone, by: user)
    }

    private func lookUp(_ names: [String], in ownedZone: OwnedZone, by user: Int) throws {
        let database = ownedZone.owner == user ? "private" : "shared"
        let items = names.map { "{\"recordName\":\"\($0)\"}" }.joined(separator: ",")
        let answer = try send(
            user, "\(database)/records/lookup",
            "{\"zoneID\":\(zoneID(ownedZone, for: user)),\"records\":[\(items)]}")
        let isSeen =
            ownedZone.owner == user && model.zones[ownedZone] != nil
            || visible(user, ownedZone) != nil
        guard isSeen else {
            note("lookup in a zone unseen")
            return try expect(answer, 404, "ZONE_NOT_FOUND")
        }
        let view = SharingViews(people: people).zone(ownedZone, for: user, of: model)
        let found = answer["records"].elements
        guard answer.status == 200, found.count == names.count else {
            throw SharingFailure("lookup: \(answer.text)")
        }
        for (name, item) in zip(names, found) {
            if let expected = view[name] {
                guard item.code == nil, item.record == expected else {
                    throw SharingFailure("looked up\n\(item.raw)\nnot\n\(expected)")
                }
            } else {
                guard item.code == "NOT_FOUND" else {
                    throw SharingFailure("looked up \(item.raw), which is not to be seen")
                }
            }
        }
        note("lookup")
    }

    private func listZones(_ user: Int) throws {
        for database in ["private", "shared"] {
            let answer = try send(user, "\(database)/zones/list", "{}")
            let expected =
                database == "private"
                ? model.ownOwnedZones(of: user)
                    + [OwnedZone(owner: user, zone: ModelledSharing.defaultZone)]
                : model.sharedOwnedZones(of: user)
            let found = answer["zones"].elements.map {
                [$0["zoneID"]["zoneName"].string, $0["zoneID"]["ownerRecordName"].string]
            }
            let wanted = expected.map { [$0.zone, name($0.owner)] }
            guard Set(found) == Set(wanted), found.count == wanted.count else {
                throw SharingFailure("zones \(wanted), not \(answer.text)")
            }
        }
        note("zones listed")
        try lookUpZones(user)
    }

    /// Every zone there is, by way of the shared database.
    private func lookUpZones(_ user: Int) throws {
        let ownedZones = model.zones.keys.filter { people[$0.owner].recordName != nil }.sorted()
        let items = ownedZones.map {
            "{\"zoneID\":{\"zoneName\":\"\($0.zone)\","
                + "\"ownerRecordName\":\"\(name($0.owner))\"}}"
        }
        let answer = try send(
            user, "shared/zones/lookup", "{\"zones\":[\(items.joined(separator: ","))]}")
        let shared = model.sharedOwnedZones(of: user)
        let found = answer["zones"].elements.map(\.code)
        guard found == ownedZones.map({ shared.contains($0) ? nil : "ZONE_NOT_FOUND" }) else {
            throw SharingFailure("zones looked up: \(answer.text)")
        }
    }

    /// A device that has nothing reads all of a zone at once, backwards too.
    func readFresh() throws {
        let user = random.one(of: users)
        let ownedZones = model.ownOwnedZones(of: user) + model.sharedOwnedZones(of: user)
        guard let ownedZone = random.any(of: ownedZones), let view = visible(user, ownedZone) else {
            return
        }
        let database = ownedZone.owner == user ? "private" : "shared"
        let isBackwards = random.happens(40)
        var token: String?
        var found: [String: SeenRecord] = [:]
        for _ in 0..<1_000 {
            let after = token.map { ",\"syncToken\":\"\($0)\"" } ?? ""
            let answer = try send(
                user, "\(database)/changes/zone",
                "{\"zones\":[{\"zoneID\":\(zoneID(ownedZone, for: user)),\"reverse\":\(isBackwards),"
                    + "\"resultsLimit\":\(random.one(of: [1, 3, 200]))\(after)}]}")
            guard let page = answer["zones"].elements.first, page.code == nil else {
                throw SharingFailure("fresh: \(answer.text)")
            }
            for item in page["records"].elements {
                let name = item["recordName"].string ?? ""
                guard item["deleted"].bool == false, found[name] == nil else {
                    throw SharingFailure("a device that had nothing is told \(item.raw)")
                }
                found[name] = item.record
            }
            token = page["syncToken"].string
            try workSome()
            if page["moreComing"].bool == false { break }
        }
        guard found == view else {
            throw SharingFailure(
                "read afresh, \(ownedZone) is \(found.keys.sorted()), not \(view.keys.sorted())")
        }
        note(isBackwards ? "read afresh backwards" : "read afresh")
    }

    // MARK: - What nobody may

    /// Requests that a client with evil intentions, or none at all, may send.
    func misbehave() throws {
        switch random.below(8) {
        case 0: try forgeOwner()
        case 1: try useForeignToken()
        case 2: try makeCycle()
        case 3: try shareBadly()
        case 4: try openUnknownLink()
        case 5: try makeZoneInShared()
        case 6: try reachForeignZone()
        default: try overwriteShare()
        }
    }

    private func forgeOwner() throws {
        let user = random.one(of: users)
        let owner = random.one(of: [
            "_00000000000000000000000000000000", "_", "nobody", "_defaultOwner'--",
        ])
        let answer = try send(
            user, "shared/records/lookup",
            "{\"zoneID\":{\"zoneName\":\"Common\",\"ownerRecordName\":\"\(owner)\"},"
                + "\"records\":[{\"recordName\":\"same0\"}]}")
        try expect(answer, 404, "ZONE_NOT_FOUND")
        note("owner forged")
    }

    /// A token of another viewer, or of another zone or database.
    private func useForeignToken() throws {
        let tokens = devices.flatMap { device in
            device.zoneTokens.map { (device.user, device.database, $0.0, $0.1) }
        }
        guard let (holder, database, ownedZone, token) = random.any(of: tokens) else { return }
        let user = random.one(of: users.filter { $0 != holder })
        let own = user == ownedZone.owner ? "private" : "shared"
        guard own != database || user != holder else { return }
        let answer = try send(
            user, "\(own)/changes/zone",
            "{\"zones\":[{\"zoneID\":\(zoneID(ownedZone, for: user)),\"syncToken\":\"\(token)\"}]}")
        let item = answer["zones"].elements.first
        let isSeen = visible(user, ownedZone) != nil
        guard answer.status == 200, item?.code == (isSeen ? "BAD_REQUEST" : "ZONE_NOT_FOUND") else {
            throw SharingFailure("a token of user \(holder): \(answer.text)")
        }
        note("foreign token")
    }

    private func makeCycle() throws {
        let ownedZones = model.zones.keys.filter { !notes($0).isEmpty }.sorted()
        guard let ownedZone = random.any(of: ownedZones), people[ownedZone.owner].recordName != nil
        else {
            return
        }
        let name = random.one(of: notes(ownedZone))
        guard let below = random.any(of: model.tree(name, in: ownedZone)) else { return }
        var operation = SharingOperation("forceUpdate", name)
        operation.parent = .set(below)
        try perform(
            SharingBatch(
                ownedZone: ownedZone, user: ownedZone.owner,
                isAtomic: ownedZone.zone != ModelledSharing.defaultZone, operations: [operation]))
        note("cycle")
    }

    private func shareBadly() throws {
        let user = random.one(of: users)
        var change = SharingOperation.ShareChange()
        var operation = SharingOperation("create", "qzs\(user)x\(random.below(3))zq")
        var ownedZone = OwnedZone(owner: user, zone: ModelledSharing.defaultZone)
        switch random.below(4) {
        case 0: change.root = random.any(of: notes(ownedZone)) ?? "never"
        case 1:
            ownedZone = OwnedZone(owner: user, zone: "Common")
            guard model.zones[ownedZone] != nil else { return }
        case 2:
            ownedZone = OwnedZone(owner: user, zone: "Common")
            guard model.zones[ownedZone] != nil else { return }
            // A root of somebody else's zone.
            change.root = pool(OwnedZone(owner: (user + 1) % people.count, zone: "Common"))[2]
        default:
            guard let shared = random.any(of: model.sharedOwnedZones(of: user)) else { return }
            ownedZone = shared
            change.root = random.any(
                of: notes(ownedZone).filter {
                    model.permission(of: user, for: $0, in: ownedZone) != nil
                })
            guard change.root != nil else { return }
        }
        operation.share = change
        try perform(
            SharingBatch(
                ownedZone: ownedZone, user: user,
                isAtomic: ownedZone.zone != ModelledSharing.defaultZone,
                operations: [operation]))
        note("shared badly")
    }

    private func openUnknownLink() throws {
        let user = random.one(of: users)
        let value = random.one(of: [
            "0AbCdEfGhIjKlMnOpQrStUvWx", "", "0", String(repeating: "a", count: 300), "../../x",
        ])
        let answer = try send(
            user, "public/records/\(random.one(of: ["resolve", "accept"]))",
            "{\"shortGUIDs\":[{\"value\":\"\(value)\"}]}")
        try expect(answer, 404, "NOT_FOUND")
    }

    private func makeZoneInShared() throws {
        let user = random.one(of: users)
        let answer = try send(
            user, "shared/zones/modify",
            Self.zoneBody(random.one(of: ["create", "delete"]), "Common"))
        try expect(answer, 400, "BAD_REQUEST")
    }

    /// Another owner's zone by way of the private database.
    private func reachForeignZone() throws {
        let user = random.one(of: users)
        let ownedZone = random.one(
            of: model.zones.keys.filter {
                $0.owner != user && people[$0.owner].recordName != nil
            }.sorted())
        let answer = try send(
            user, "private/records/lookup",
            "{\"zoneID\":\(zoneID(ownedZone, for: user)),\"records\":[{\"recordName\":\"same0\"}]}")
        try expect(answer, 400, "BAD_REQUEST")
        note("foreign zone in private")
    }

    /// Saves a common record over a share, or a share over a common record.
    private func overwriteShare() throws {
        guard let (ownedZone, name, _) = random.any(of: openShares()) else { return }
        let user = random.happens(50) ? ownedZone.owner : random.one(of: users)
        var operation = SharingOperation("forceUpdate", name)
        operation.fields["v"] = newValue()
        if random.happens(30) { operation.parent = .set(name) }
        try perform(
            SharingBatch(ownedZone: ownedZone, user: user, isAtomic: true, operations: [operation]))
        note("share overwritten")
    }
}
