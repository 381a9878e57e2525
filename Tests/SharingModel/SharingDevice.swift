import Seeding

/// One device of somebody: it keeps a copy of their private or their shared database by its feeds alone.
package struct SharingDevice: Sendable {
    package typealias OwnedZone = ModelledSharing.OwnedZone

    struct Copy: Sendable {
        var token: String?
        var records: [String: SeenRecord] = [:]
    }

    /// What a page must be held to.
    package struct Truth {
        /// What its user is to see now, by zone.
        package let view: [OwnedZone: [String: SeenRecord]]
        package let owners: [String: Int]

        package init(view: [OwnedZone: [String: SeenRecord]], owners: [String: Int]) {
            self.view = view
            self.owners = owners
        }
    }

    package let user: Int
    /// "private" or "shared".
    package let database: String
    private var token: String?
    private(set) var copies: [OwnedZone: Copy] = [:]
    /// Zones of which the database's feed has said that they changed.
    private var pending: [OwnedZone] = []
    private var isDatabaseDone = false
    /// What was read so far, to see that nothing is left untried.
    package private(set) var tally: [String: Int] = [:]

    package init(user: Int, database: String) {
        self.user = user
        self.database = database
    }

    /// Whether nothing more is coming, as far as it knows.
    package var isCaughtUp: Bool { isDatabaseDone && pending.isEmpty }

    /// Tokens that it holds, to try where they do not belong.
    package var zoneTokens: [(OwnedZone, String)] {
        copies.sorted { $0.key < $1.key }.compactMap { ownedZone, copy in
            copy.token.map { (ownedZone, $0) }
        }
    }

    /// Looks again whether there is anything new.
    package mutating func wake() { isDatabaseDone = false }

    package mutating func forget() { self = SharingDevice(user: user, database: database) }

    /// Reads one page of one feed.
    ///
    /// - Parameter send: sends a request of this device's user.
    /// - Throws: `SharingFailure` when a page is not as it must be.
    package mutating func step(
        _ random: inout SeededRandom, names: (Int) -> String,
        truth: Truth, send: (String, String) throws -> SharingAnswer
    ) throws {
        let limit = random.one(of: [1, 2, 3, 5, 200])
        if !isDatabaseDone, pending.isEmpty || random.happens(50) {
            try readDatabase(limit, isOld: random.happens(20), truth, send)
        } else if !pending.isEmpty {
            let ownedZone = random.one(of: pending)
            try readZone(
                ownedZone, names(ownedZone.owner), limit, isOld: random.happens(20), truth, send)
        }
    }

    /// Holds the whole copy to what its user is to see.
    package func compare(_ truth: Truth) throws {
        guard Set(copies.keys) == Set(truth.view.keys) else {
            throw failure(
                "has zones \(copies.keys.sorted()), not \(truth.view.keys.sorted())")
        }
        for ownedZone in truth.view.keys.sorted() { try compare(ownedZone, truth) }
    }

    // MARK: - The database's feed

    private mutating func readDatabase(
        _ limit: Int, isOld: Bool, _ truth: Truth,
        _ send: (String, String) throws -> SharingAnswer
    ) throws {
        let key = isOld ? "metaSyncToken" : "syncToken"
        let after = token.map { ",\"\(key)\":\"\($0)\"" } ?? ""
        let path = isOld ? "zones/changes" : "changes/database"
        let answer = try send("\(database)/\(path)", "{\"resultsLimit\":\(limit)\(after)}")
        tally[path, default: 0] += 1
        if answer["changeTokenExpired"].bool == true {
            tally["database token expired", default: 0] += 1
            return forget()
        }
        guard answer.status == 200 else { throw failure("database feed: \(answer.text)") }
        for item in answer["zones"].elements {
            let ownedZone = try ownedZone(item, truth)
            if item["deleted"].bool == true {
                guard truth.view[ownedZone] == nil else {
                    throw failure("is told that \(ownedZone) is gone: \(answer.text)")
                }
                drop(ownedZone)
                tally["zone deleted", default: 0] += 1
            } else {
                guard truth.view[ownedZone] != nil else {
                    throw failure("is told of \(ownedZone): \(answer.text)")
                }
                if copies[ownedZone] == nil { copies[ownedZone] = Copy() }
                if !pending.contains(ownedZone) { pending.append(ownedZone) }
            }
        }
        token = answer[key].string
        guard let moreComing = answer["moreComing"].bool, token != nil else {
            throw failure("database feed without an end: \(answer.text)")
        }
        isDatabaseDone = !moreComing
        guard !moreComing, Set(copies.keys) != Set(truth.view.keys) else { return }
        throw failure(
            "has zones \(copies.keys.sorted()), not \(truth.view.keys.sorted()): \(answer.text)")
    }

    private func ownedZone(_ item: SharingJSON, _ truth: Truth) throws -> OwnedZone {
        let id = item["zoneID"]
        guard let zone = id["zoneName"].string, let name = id["ownerRecordName"].string,
            let owner = truth.owners[name]
        else { throw failure("unknown zone in \(item.raw)") }
        return OwnedZone(owner: owner, zone: zone)
    }

    private mutating func drop(_ ownedZone: OwnedZone) {
        copies[ownedZone] = nil
        pending.removeAll { $0 == ownedZone }
    }

    // MARK: - A zone's feed

    private mutating func readZone(
        _ ownedZone: OwnedZone, _ owner: String, _ limit: Int, isOld: Bool, _ truth: Truth,
        _ send: (String, String) throws -> SharingAnswer
    ) throws {
        let copy = copies[ownedZone] ?? Copy()
        var members =
            "\"zoneID\":{\"zoneName\":\"\(ownedZone.zone)\",\"ownerRecordName\":\"\(owner)\"}"
        members += ",\"resultsLimit\":\(limit)"
        if let token = copy.token { members += ",\"syncToken\":\"\(token)\"" }
        let path = isOld ? "records/changes" : "changes/zone"
        let answer = try send(
            "\(database)/\(path)", isOld ? "{\(members)}" : "{\"zones\":[{\(members)}]}")
        let page = isOld ? answer.json : answer["zones"].elements.first ?? answer.json
        tally[path, default: 0] += 1
        if page["changeTokenExpired"].bool == true {
            guard copy.token != nil else { throw failure("expired without a token: \(page.raw)") }
            tally["zone token expired", default: 0] += 1
            copies[ownedZone] = Copy()
            return
        }
        if page.code == "ZONE_NOT_FOUND" {
            guard truth.view[ownedZone] == nil else { throw failure("\(ownedZone): \(page.raw)") }
            tally["zone not found", default: 0] += 1
            // The database's feed tells of it, too.
            isDatabaseDone = false
            return drop(ownedZone)
        }
        guard page.code == nil, let seen = truth.view[ownedZone] else {
            throw failure("\(ownedZone) should be unseen, or read: \(page.raw)")
        }
        try take(page, of: ownedZone, seen)
        guard page["moreComing"].bool == false else { return }
        pending.removeAll { $0 == ownedZone }
        try compare(ownedZone, truth)
    }

    private mutating func take(
        _ page: SharingJSON, of ownedZone: OwnedZone, _ seen: [String: SeenRecord]
    ) throws {
        var copy = copies[ownedZone] ?? Copy()
        var names: Set<String> = []
        for item in page["records"].elements {
            let name = item["recordName"].string ?? ""
            guard names.insert(name).inserted else {
                throw failure("\(name) of \(ownedZone) comes twice in a page: \(page.raw)")
            }
            if item["deleted"].bool == true {
                guard seen[name] == nil else {
                    throw failure("is told that \(name) of \(ownedZone) is gone: \(page.raw)")
                }
                tally["record deleted", default: 0] += 1
                copy.records[name] = nil
            } else {
                let record = item.record
                guard record == seen[name] else {
                    throw failure(
                        "is shown \(name) of \(ownedZone) as\n\(record)\nnot as\n"
                            + "\(seen[name]?.description ?? "nothing"): \(item.raw)")
                }
                tally["record", default: 0] += 1
                copy.records[name] = record
            }
        }
        guard let token = page["syncToken"].string, page["moreComing"].exists else {
            throw failure("zone feed without an end: \(page.raw)")
        }
        copy.token = token
        copies[ownedZone] = copy
    }

    private func compare(_ ownedZone: OwnedZone, _ truth: Truth) throws {
        let expected = truth.view[ownedZone] ?? [:]
        let found = copies[ownedZone]?.records ?? [:]
        guard found != expected else { return }
        var differences: [String] = []
        for name in Set(found.keys).union(expected.keys).sorted()
        where found[name] != expected[name] {
            differences.append(
                "\(name) is \(found[name]?.description ?? "missing"), not "
                    + (expected[name]?.description ?? "there at all"))
        }
        throw failure("in \(ownedZone): \(differences.joined(separator: "\n"))")
    }

    private func failure(_ what: String) -> SharingFailure {
        SharingFailure("\(database) copy of user \(user) \(what)")
    }
}
