import Seeding

/// A client that asks which zones have changed and follows only those, as apps do.
final class DatabaseFollower: @unchecked Sendable {
    // Unchecked: one thread at a time has it.
    let user: Int
    let name: String
    private var zones: [String: ZoneFollower] = [:]
    private var token: String?
    private var random: SeededRandom

    init(user: Int, name: String, random: SeededRandom) {
        self.user = user
        self.name = name
        self.random = random
    }

    var zoneNames: Set<String> { Set(zones.keys) }

    /// What it holds of each zone.
    var replicas: [(location: UserZone, records: [String: RecordVersion])] {
        zones.values.map { ($0.location, $0.records) }
    }

    /// Takes everything that has changed since the last time; false when the server went away.
    func catchUp(_ client: DatabaseClient, _ noted: inout Life) -> Bool {
        while true {
            switch client.databaseChanges(after: token, limit: 1 + random.below(3)) {
            case .lost: return false
            case .fault(let code, let reason, let status):
                noted.oddities.append("\(name) of user \(user): \(status) \(code), \(reason)")
                return false
            case .success(let page):
                for zone in page.zones {
                    guard follow(zone.name, isDeleted: zone.isDeleted, client, &noted) else {
                        return false
                    }
                }
                // Kept only now: what a page names has to be fetched first.
                token = page.token
                if !page.moreComing { return true }
            }
        }
    }

    private func follow(
        _ zone: String, isDeleted: Bool, _ client: DatabaseClient, _ noted: inout Life
    ) -> Bool {
        guard !isDeleted else {
            zones[zone] = nil
            return true
        }
        let follower =
            zones[zone]
            ?? ZoneFollower(
                UserZone(user: user, zone: zone), name: name, mayTurn: false,
                random: SeededRandom(seed: random.next()))
        zones[zone] = follower
        return follower.catchUp(client, &noted)
    }
}
