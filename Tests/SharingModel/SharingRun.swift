import Seeding

/// Random requests of several people against a server and the model of sharing, compared all along.
///
/// Everybody has devices that keep copies by their feeds alone; a copy that has caught up must be what
/// the model says that its user may see. No answer may hold a mark that its user was never shown.
package final class SharingRun {
    package typealias OwnedZone = ModelledSharing.OwnedZone

    package struct Options: Sendable {
        package var people = 5
        /// The last of them has no account at first.
        package var late = 1
        package var devicesEach = 2
        package var zones = ["Common", "own"]
        package var namesPerZone = 12
        /// How often devices read between writes, in percent.
        package var eagerness = 50
        /// Whether the work that requests leave for later is done in steps, between other things.
        package var isHeldBack = false
        /// Whether records go with others by reference, and permissions are NONE: the seeds of earlier
        /// runs find what they found without.
        package var hasTies = true
        /// Whether people ask to take part, and come by links that are good once: the seeds of earlier runs find
        /// what they found without, and a server with a clock of its own cannot be held to when it tells.
        package var hasAsking = true
        /// How many operations no batch has, and how many links no request; nil for any.
        package var countSpared: Int?

        package init() {}
    }

    let wire: any SharingWire
    let options: Options
    var random: SeededRandom
    package internal(set) var model: ModelledSharing
    var people: [SharingPerson]
    package internal(set) var devices: [SharingDevice] = []
    /// What each has been shown or could have been, by mark.
    var known: [Set<String>] = []
    private var views: [[OwnedZone: [String: SeenRecord]]] = []
    private var sharedViews: [[OwnedZone: [String: SeenRecord]]] = []
    private var heard: [(user: Int, request: String, answer: SharingAnswer)] = []
    private var guids: Set<String> = []
    package internal(set) var steps = 0
    /// What the request under way does, should it be done without an answer.
    var underWay: ((inout ModelledSharing) -> Void)?
    var values = 0
    /// How often each thing came about, to see that nothing is left untried.
    package internal(set) var tally: [String: Int] = [:]
    /// The last requests, for whoever has to find out what went wrong.
    package private(set) var trace: [String] = []

    package init(wire: any SharingWire, seed: UInt64, options: Options = Options()) throws {
        self.wire = wire
        self.options = options
        random = SeededRandom(seed: seed)
        people = (0..<options.people).map { SharingPerson(index: $0) }
        model = ModelledSharing(people: options.people)
        known = Array(repeating: [], count: options.people)
        views = Array(repeating: [:], count: options.people)
        sharedViews = views
        for user in 0..<(options.people - options.late) { try join(user) }
        try commit()
    }

    /// Makes somebody's account and devices.
    func join(_ user: Int) throws {
        people[user].recordName = try wire.makeAccount(people[user])
        known[user].formUnion(SharingViews(people: people).ownSecrets(user))
        model.verify(.email(people[user].email), as: user)
        for _ in 0..<options.devicesEach {
            devices.append(SharingDevice(user: user, database: "private"))
            devices.append(SharingDevice(user: user, database: "shared"))
        }
        for zone in options.zones {
            let ownedZone = OwnedZone(owner: user, zone: zone == "own" ? "qzz\(user)zq" : zone)
            underWay = { $0.makeZone(ownedZone) }
            let answer = try send(
                user, "private/zones/modify", Self.zoneBody("create", ownedZone.zone))
            guard answer.status == 200, answer["zones"].elements.first?.code == nil else {
                throw SharingFailure("zone not made: \(answer.text)")
            }
            model.makeZone(ownedZone)
            underWay = nil
        }
        model.touched.formUnion(model.zones.keys)
    }

    static func zoneBody(_ kind: String, _ zone: String) -> String {
        "{\"operations\":[{\"operationType\":\"\(kind)\","
            + "\"zone\":{\"zoneID\":{\"zoneName\":\"\(zone)\"}}}]}"
    }

    /// Those who have an account.
    var users: [Int] { people.indices.filter { people[$0].recordName != nil } }

    func name(_ user: Int) -> String { people[user].recordName ?? "_nobody" }

    // MARK: - Steps

    /// Takes that many steps, then lets everybody catch up.
    package func run(steps count: Int) throws {
        for _ in 0..<count { try takeStep() }
        try describing { try catchUpAll() }
    }

    /// Takes one step.
    package func takeStep() throws {
        steps += 1
        try describing {
            try act()
            try commit()
            if random.happens(options.eagerness) { try readSome() }
            try workSome()
            if random.happens(2) { try catchUpAll() }
        }
    }

    /// Lets the server do some of the work that is left, where it does none by itself.
    func workSome() throws {
        guard options.isHeldBack, random.happens(30) else { return }
        for _ in 0..<random.one(of: [1, 1, 3]) where try wire.doWork() { note("work done") }
    }

    private func describing(_ body: () throws -> Void) throws {
        do { try body() } catch let loss as SharingLoss { throw loss } catch {
            let last = trace.suffix(12).joined(separator: "\n")
            throw SharingFailure(
                "LENTICULAR_SEED=\(random.seed), step \(steps): \(error)\nlast requests:\n\(last)")
        }
    }

    private func act() throws {
        guard try !ask() else { return }
        switch random.below(100) {
        case 0..<20: try ownerBatch()
        case 20..<42: try participantBatch()
        case 42..<48: try makeShare()
        case 48..<57: try changeShare()
        case 57..<70: try useLink()
        case 70..<72: try leave()
        case 72..<74: try stopSharing()
        case 74..<76: try changeZone()
        case 76..<81: try lookUp()
        case 81..<86: try query()
        case 86..<95: try misbehave()
        case 95..<97: try prove()
        default: try readFresh()
        }
    }

    // MARK: - Requests

    /// Sends a request; what its answer tells is looked at when the step is over.
    func send(_ user: Int, _ path: String, _ body: String) throws -> SharingAnswer {
        trace.append("user \(user) \(path) \(body)")
        if trace.count > 200 { trace.removeFirst(100) }
        var answer = try wire.send(user, path, body)
        while answer.status == 503, answer.code == "TRY_AGAIN_LATER", try wire.doWork() {
            note("asked again")
            answer = try wire.send(user, path, body)
        }
        trace.append("  \(answer.status) \(answer.text.prefix(600))")
        guard answer.status < 500 else { throw SharingFailure("\(path): \(answer.text)") }
        heard.append((user, body, answer))
        return answer
    }

    func note(_ what: String) { tally[what, default: 0] += 1 }

    func expect(_ answer: SharingAnswer, _ status: Int, _ code: String?) throws {
        guard answer.status == status, answer.code == code else {
            throw SharingFailure("expected \(status) \(code ?? "-"), not \(answer.text)")
        }
    }

    // MARK: - What follows a change

    /// Learns what the server has chosen, then looks at what was told to whom.
    func commit() throws {
        let ownedZones = model.touched
        model.touched = []
        absorb(ownedZones)
        for ownedZone in ownedZones.sorted() { try learn(ownedZone) }
        model.touched = []
        absorb(ownedZones)
        for (user, request, answer) in heard { try listen(user, request, answer) }
        heard = []
    }

    private func absorb(_ ownedZones: Set<OwnedZone>) {
        guard !ownedZones.isEmpty else { return }
        let viewing = SharingViews(people: people)
        for user in users {
            let shared = Set(model.sharedOwnedZones(of: user))
            for ownedZone in ownedZones {
                let isOwn = ownedZone.owner == user
                let isThere = isOwn ? model.zones[ownedZone] != nil : shared.contains(ownedZone)
                let seen = isThere ? viewing.zone(ownedZone, for: user, of: model) : nil
                if isOwn {
                    if ownedZone.zone != ModelledSharing.defaultZone {
                        views[user][ownedZone] = seen
                    }
                } else {
                    sharedViews[user][ownedZone] = seen
                }
                guard isThere else { continue }
                known[user].formUnion(viewing.secrets(ownedZone, for: user, of: model))
            }
        }
    }

    /// No mark that somebody was never entitled to, but for what they have just said themselves.
    private func listen(_ user: Int, _ request: String, _ answer: SharingAnswer) throws {
        let told = Secrets.inside(withoutRandomLetters(answer.text)).subtracting(known[user])
            .union(guids(in: answer.text).subtracting(known[user]))
            .subtracting(Secrets.inside(request)).filter { !request.contains($0) }
        guard told.isEmpty else {
            throw SharingFailure(
                "user \(user) is told \(told.sorted()) by\n\(answer.text)\nwhen asking\n\(request)")
        }
    }

    /// Random letters of tokens, markers and short identifiers may look like anything.
    private func withoutRandomLetters(_ text: String) -> String {
        var parts = text.split(separator: "\"", omittingEmptySubsequences: false)
        for index in parts.indices.dropLast(2)
        where parts[index + 1] == ":" && Self.isRandom(parts[index]) {
            parts[index + 2] = ""
        }
        return parts.joined(separator: "\"")
    }

    private static func isRandom(_ key: Substring) -> Bool {
        key == "oneTimeURL" || key.hasSuffix("yncToken") || key == "continuationMarker"
            || key == "shortGUID"
    }

    private func guids(in text: String) -> Set<String> {
        guard text.contains("\"shortGUID\"") else { return [] }
        return Set(
            text.split(separator: "\"").map(String.init).filter { guids.contains($0) })
    }

    /// Reads what a zone's owner is shown of records whose tags are not known, and holds it to the model.
    private func learn(_ ownedZone: OwnedZone) throws {
        let names = model.unknown(in: ownedZone)
        guard !names.isEmpty else { return }
        let items = names.map { "{\"recordName\":\"\($0)\"}" }.joined(separator: ",")
        let answer = try send(
            ownedZone.owner, "private/records/lookup",
            "{\"zoneID\":{\"zoneName\":\"\(ownedZone.zone)\"},\"records\":[\(items)]}")
        for (name, item) in zip(names, answer["records"].elements) {
            guard item.code == nil, adopt(item, as: name, in: ownedZone, of: &model) else {
                throw SharingFailure(
                    "\(name) of \(ownedZone) is\n\(item.record)\nnot\n\(described(name, ownedZone)):\n"
                        + "\(item.raw)")
            }
        }
        try expect(answer, 200, nil)
    }

    private func described(_ name: String, _ ownedZone: OwnedZone) -> String {
        SharingViews(people: people).zone(ownedZone, for: ownedZone.owner, of: model)[name]?
            .description
            ?? "nothing"
    }

    /// Takes over what the server has chosen for a record.
    ///
    /// - Returns: whether the rest is as the model says.
    func adopt(
        _ item: SharingJSON, as name: String, in ownedZone: OwnedZone,
        of model: inout ModelledSharing
    ) -> Bool {
        let seen = item.record
        guard let record = model.record(name, in: ownedZone), !seen.tag.isEmpty,
            record.tag.map({ $0 == seen.tag }) ?? !record.oldTags.contains(seen.tag)
        else { return false }
        if let guid = seen.guid { guids.insert(guid) }
        let people = self.people
        let touched = model.touched
        model.change(name, in: ownedZone) { record in
            record.tag = seen.tag
            if record.hasGUID, record.guid == nil { record.guid = seen.guid }
            guard var share = record.share else { return }
            for index in share.participants.indices where share.participants[index].id == nil {
                let used = Set(share.participants.compactMap(\.id))
                share.participants[index].id =
                    seen.sharing?.participants.first {
                        !used.contains($0.id)
                            && Self.isEntry($0, share.participants[index], people)
                    }?.id
            }
            for index in share.participants.indices {
                let id = share.participants[index].id
                share.participants[index].secretLink =
                    seen.sharing?.participants.first { $0.id == id }?.link
            }
            record.share = share
        }
        model.touched = touched
        let view = SharingViews(people: people).zone(ownedZone, for: ownedZone.owner, of: model)
        return view[name] == seen
    }

    private static func isEntry(
        _ seen: SeenParticipant, _ entry: ModelledSharing.Participant, _ people: [SharingPerson]
    ) -> Bool {
        if let user = entry.user { return seen.user == people[user].recordName }
        switch entry.handle {
        case .name(let user), .link(let user): return seen.user == people[user].recordName
        case .email(let text), .phone(let text): return seen.address == text
        case .first:
            return seen.user == nil && seen.address == nil
                && seen.permission == entry.permission.rawValue
        }
    }

    // MARK: - Devices

    func truth(_ device: SharingDevice) -> SharingDevice.Truth {
        let view = device.database == "private" ? views[device.user] : sharedViews[device.user]
        var owners: [String: Int] = [:]
        for user in users { owners[name(user)] = user }
        return SharingDevice.Truth(view: view, owners: owners)
    }

    func visible(_ user: Int, _ ownedZone: OwnedZone) -> [String: SeenRecord]? {
        ownedZone.owner == user ? views[user][ownedZone] : sharedViews[user][ownedZone]
    }

    /// Some devices read some pages.
    private func readSome() throws {
        for _ in 0..<random.one(of: [1, 1, 2, 3]) {
            let index = random.below(devices.count)
            if random.happens(2) { devices[index].forget() }
            devices[index].wake()
            if random.happens(60) {
                try catchUp(index)
            } else {
                for _ in 0..<random.one(of: [1, 2, 4]) { try readPage(index) }
            }
        }
    }

    private func readPage(_ index: Int) throws {
        var device = devices[index]
        let truth = truth(device)
        let user = device.user
        try device.step(&random, names: name, truth: truth) { path, body in
            try send(user, path, body)
        }
        devices[index] = device
        try commit()
    }

    /// Lets a device read until nothing more is coming, and compares all that it has.
    func catchUp(_ index: Int) throws {
        devices[index].wake()
        var pages = 0
        while !devices[index].isCaughtUp {
            try readPage(index)
            try workSome()
            pages += 1
            guard pages < 5_000 else { throw SharingFailure("pages without end") }
        }
        try devices[index].compare(truth(devices[index]))
        note("caught up")
    }

    package func catchUpAll() throws {
        for index in devices.indices { try catchUp(index) }
    }

    // MARK: - After a loss

    /// Finds out whether the request that was under way has been done, and goes on from there.
    package func recover() throws {
        let candidate = underWay
        underWay = nil
        heard = []
        // What was being looked at is looked at again.
        model.touched = Set(model.zones.keys)
        guard let candidate else { return try describing { try commit() } }
        var done = model
        done.touched = []
        candidate(&done)
        try describing {
            if let kept = try fit(model, ownedZones: done.touched, names: done) {
                model = kept
                note("lost and not done")
            } else if let made = try fit(done, ownedZones: done.touched, names: model) {
                model = made
                note("lost but done")
            } else {
                throw SharingFailure("neither done nor undone: \(trace.last ?? "")")
            }
            model.touched = Set(model.zones.keys).union(done.touched)
            try commit()
        }
    }

    /// The model with what the server chose, when zones are as it says; nil when they are not.
    private func fit(
        _ candidate: ModelledSharing, ownedZones: Set<OwnedZone>, names other: ModelledSharing
    ) throws -> ModelledSharing? {
        var fitting = candidate
        for ownedZone in ownedZones.sorted() {
            let records = candidate.zones[ownedZone]?.records
            let names = Set(records.map { Array($0.keys) } ?? [])
                .union(other.zones[ownedZone].map { Array($0.records.keys) } ?? []).sorted()
            let asked = names + ["never"]
            let items = asked.map { "{\"recordName\":\"\($0)\"}" }.joined(separator: ",")
            let answer = try wire.send(
                ownedZone.owner, "private/records/lookup",
                "{\"zoneID\":{\"zoneName\":\"\(ownedZone.zone)\"},\"records\":[\(items)]}")
            guard answer.status == 200, let records else {
                if answer.code == "ZONE_NOT_FOUND", records == nil { continue }
                return nil
            }
            for (name, item) in zip(names, answer["records"].elements) {
                if records[name] == nil {
                    guard item.code == "NOT_FOUND" else { return nil }
                } else {
                    guard item.code == nil, adopt(item, as: name, in: ownedZone, of: &fitting)
                    else {
                        return nil
                    }
                }
            }
        }
        return fitting
    }
}
