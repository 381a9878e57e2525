import Seeding

/// A client that keeps a copy of a zone and follows its changes by the token that it keeps.
final class ZoneFollower: @unchecked Sendable {
    // Unchecked: one thread at a time has it.

    /// How a request for a page ended.
    enum Step {
        case page(moreComing: Bool)
        case zoneMissing
        case lost
    }

    let location: UserZone
    let name: String
    private(set) var records: [String: RecordVersion] = [:]
    private var token: FeedToken?
    private var expired: FeedToken?
    private var isNewestFirst = false
    /// Whether the pages since it was last complete show one moment together.
    private var isExact = true
    private let mayTurn: Bool
    private var random: SeededRandom

    /// - Parameter mayTurn: whether it asks for the newest changes first now and then.
    init(_ location: UserZone, name: String, mayTurn: Bool, random: SeededRandom) {
        self.location = location
        self.name = name
        self.mayTurn = mayTurn
        self.random = random
    }

    /// Reads one page with a limit of its fancy.
    func step(_ client: DatabaseClient, _ noted: inout Life) -> Step {
        if mayTurn, random.once(in: token?.isComplete ?? true ? 3 : 12) { isNewestFirst.toggle() }
        let limit = [1, 2, 7, 200][random.below(4)]
        let began = DatabaseClient.now
        let reply = client.changes(
            location.zone, after: token?.text, limit: limit, newestFirst: isNewestFirst)
        let span = Span(began: began, ended: DatabaseClient.now)
        switch reply {
        case .lost: return .lost
        case .fault("ZONE_NOT_FOUND", _, _):
            noted.missingZones.append(MissingZone(location: location, span: span, by: name))
            forget()
            return .zoneMissing
        case .fault("EXPIRED", _, _) where token != nil:
            expired = token
            forget()
            return .page(moreComing: true)
        case .fault(let code, let reason, let status):
            noted.oddities.append("\(name) in \(location): \(status) \(code), \(reason)")
            return .lost
        case .success(let page):
            // Newest first over several pages, what changes meanwhile comes only after them.
            if isNewestFirst, page.moreComing { isExact = false }
            let isCurrent = !page.moreComing && isExact
            take(page.records, page.token, page.moreComing, span, &noted)
            return .page(moreComing: !isCurrent)
        }
    }

    /// Follows until nothing more is coming; false when the server went away.
    func catchUp(_ client: DatabaseClient, _ noted: inout Life) -> Bool {
        while true {
            switch step(client, &noted) {
            case .page(moreComing: true): continue
            case .page, .zoneMissing: return true
            case .lost: return false
            }
        }
    }

    /// Begins anew.
    func forget() {
        token = nil
        records = [:]
        isExact = true
    }

    private func take(
        _ changed: [(name: String, version: RecordVersion?)], _ next: FeedToken, _ moreComing: Bool,
        _ span: Span, _ noted: inout Life
    ) {
        if let expired {
            noted.expiries.append(
                Expiry(location: location, follower: name, previous: expired.zone, now: next.zone))
            self.expired = nil
        }
        noted.pages.append(
            Page(
                location: location, follower: name, span: span, previous: token, token: next,
                records: changed, isNewestFirst: isNewestFirst, moreComing: moreComing))
        for (name, version) in changed { records[name] = version }
        token = next
        guard !moreComing else { return }
        if isExact {
            noted.snapshots.append(
                Snapshot(location: location, records: records, span: span, by: name))
        }
        isExact = true
    }
}
