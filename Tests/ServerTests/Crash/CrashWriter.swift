import Foundation
import Seeding

/// A client that saves, deletes, batches and reads without a pause until its server is gone.
///
/// Every value is its own: `w<writer>-<number>`. What it believes to be stored it has from its own
/// answers, so the tags that it sends are at times behind, as those of several devices are.
final class CrashWriter: @unchecked Sendable {
    // Unchecked: one thread at a time has it.

    /// What the writers of a user write to.
    struct Field {
        /// Zones that stay, with the names that all writers fight over.
        var zones: [(name: String, records: Int)]
        /// The zone that comes and goes.
        var fleeting: String?
    }

    private static let fleetingNames = 12
    /// How many records of its own a writer saves at once, mostly and at times.
    private static let ownNames = (few: 8, many: 120)

    let user: Int
    private let number: Int
    private let field: Field
    private var random: SeededRandom
    private var count = 0
    private var believed: [UserZone: [String: Int64]] = [:]
    private var previous: [UserZone: [String: Int64]] = [:]
    private(set) var noted = Life(number: 0)
    /// When its connection was last lost, and how.
    private(set) var lost: (at: UInt64, why: String)?

    init(user: Int, number: Int, field: Field, random: SeededRandom) {
        self.user = user
        self.number = number
        self.field = field
        self.random = random
    }

    /// Works until the server is gone.
    func run(_ client: DatabaseClient) {
        noted = Life(number: 0)
        while lost == nil { step(client) }
    }

    /// Takes over what a fresh client would know.
    func learn(_ states: [UserZone: ZoneState]) {
        believed = [:]
        for (location, state) in states where location.user == user {
            believed[location] = state.records.mapValues(\.tag)
        }
    }

    /// Makes the zones that stay; nil when the server went away.
    func makeZones(_ client: DatabaseClient) -> Life? {
        noted = Life(number: 0)
        for zone in field.zones { changeZone(UserZone(user: user, zone: zone.name), false, client) }
        return lost == nil ? noted : nil
    }

    private func step(_ client: DatabaseClient) {
        switch random.below(100) {
        case ..<30: modify(client, names: 1, isAtomic: random.once(in: 2))
        case ..<50: batchOfOwn(client)
        case ..<58: modify(client, names: 2 + random.below(6), isAtomic: true)
        case ..<68: modify(client, names: 2 + random.below(10), isAtomic: false)
        case ..<92: lookUp(client)
        default: changeFleetingZone(client)
        }
    }

    // MARK: - Writes

    /// A place and some of its names, none twice.
    private func pick(_ count: Int) -> (location: UserZone, names: [String]) {
        if let fleeting = field.fleeting, random.once(in: 5) {
            let location = UserZone(user: user, zone: fleeting)
            return (location, names(of: Self.fleetingNames, count))
        }
        let zone = field.zones[random.below(field.zones.count)]
        return (UserZone(user: user, zone: zone.name), names(of: zone.records, count))
    }

    private func names(of all: Int, _ count: Int) -> [String] {
        (0..<all).shuffled(using: &random).prefix(count).map { "r\($0)" }
    }

    private func modify(_ client: DatabaseClient, names count: Int, isAtomic: Bool) {
        let (location, names) = pick(count)
        send(names.map { operation($0, in: location) }, to: location, isAtomic, client)
    }

    /// All of the writer's own records at once: nobody else touches them, so half shows as half.
    private func batchOfOwn(_ client: DatabaseClient) {
        let zone = field.zones[random.below(field.zones.count)]
        let location = UserZone(user: user, zone: zone.name)
        let count = random.once(in: 12) ? Self.ownNames.many : Self.ownNames.few
        let operations = (0..<count).map { index in
            let name = "own\(number)-\(index)"
            guard let base = believed[location]?[name] else {
                return Operation(name, .force, value)
            }
            if random.once(in: 4) { return Operation(name, .delete(base: base)) }
            return Operation(name, random.once(in: 2) ? .force : .update(base: base), value)
        }
        send(operations, to: location, true, client)
    }

    private var value: String {
        count += 1
        return "w\(number)-\(count)"
    }

    private func operation(_ name: String, in location: UserZone) -> Operation {
        guard let base = believed[location]?[name] else {
            return switch random.below(20) {
            case 0: Operation(name, .forceDelete)
            case 1, 2: Operation(name, .force, value)
            default: Operation(name, .create, value)
            }
        }
        switch random.below(100) {
        case ..<60: return Operation(name, .update(base: base), value)
        case ..<70: return Operation(name, .force, value)
        case ..<86: return Operation(name, .delete(base: base))
        case ..<90: return Operation(name, .forceDelete)
        case ..<94: return Operation(name, .create, value)
        default:
            let old = previous[location]?[name] ?? base
            return random.once(in: 3)
                ? Operation(name, .delete(base: old)) : Operation(name, .update(base: old), value)
        }
    }

    private func send(
        _ operations: [Operation], to location: UserZone, _ isAtomic: Bool, _ client: DatabaseClient
    ) {
        let began = DatabaseClient.now
        let reply = client.modify(location.zone, operations, isAtomic: isAtomic)
        var span = Span(began: began, ended: DatabaseClient.now)
        var operations = operations
        switch reply {
        case .success(let outcomes):
            for (index, outcome) in outcomes.enumerated() { operations[index].outcome = outcome }
        case .fault("ZONE_NOT_FOUND", _, _):
            noted.missingZones.append(
                MissingZone(location: location, span: span, by: "writer \(number)"))
            refuse(&operations, "ZONE_NOT_FOUND")
        case .fault("TRY_AGAIN_LATER", let reason, 503):
            // A full disk is a definite no; after a commit of unknown outcome anything goes.
            if reason.contains("full") {
                refuse(&operations, "DISK_FULL")
                Thread.sleep(forTimeInterval: 0.005)
            } else {
                span.ended = .max
            }
        case .fault(let code, let reason, let status):
            noted.oddities.append("writer \(number): \(status) \(code), \(reason)")
            refuse(&operations, code)
        case .lost(let why):
            lose(why)
            span.ended = .max
        }
        noted.writes.append(
            Write(location: location, span: span, isAtomic: isAtomic, operations: operations))
        for operation in operations { believe(operation, in: location) }
    }

    private func refuse(_ operations: inout [Operation], _ code: String) {
        for index in operations.indices { operations[index].outcome = .refused(code: code) }
    }

    private func believe(_ operation: Operation, in location: UserZone) {
        switch operation.outcome {
        case .saved(let tag): believe(tag, operation.name, in: location)
        case .deleted, .refused("NOT_FOUND", _): believe(nil, operation.name, in: location)
        case .refused("ZONE_NOT_FOUND", _): believed[location] = nil
        case .refused(_, let version?): believe(version.tag, operation.name, in: location)
        case .refused, .unknown: break
        }
    }

    private func believe(_ tag: Int64?, _ name: String, in location: UserZone) {
        previous[location, default: [:]][name] = believed[location]?[name]
        believed[location, default: [:]][name] = tag
    }

    /// Makes ready for another life of the server.
    func forgetLoss() { lost = nil }

    private func lose(_ why: String) { lost = (DatabaseClient.now, why) }

    // MARK: - Reads and zones

    /// Looks up names of which it has just been told something, among others.
    private func lookUp(_ client: DatabaseClient) {
        var (location, names) = pick(1 + random.below(8))
        if let last = noted.writes.last, last.span.ended != .max, random.once(in: 2) {
            (location, names) = (last.location, last.operations.map(\.name))
        }
        let began = DatabaseClient.now
        let reply = client.lookup(location.zone, names)
        let span = Span(began: began, ended: DatabaseClient.now)
        switch reply {
        case .success(let versions):
            for (name, version) in zip(names, versions) {
                noted.sightings.append(
                    Sighting(
                        location: location, name: name, version: version, span: span,
                        by: "reader \(number)"))
                if random.once(in: 2) { believe(version?.tag, name, in: location) }
            }
        case .fault("ZONE_NOT_FOUND", _, _):
            noted.missingZones.append(
                MissingZone(location: location, span: span, by: "reader \(number)"))
        case .fault(let code, let reason, let status):
            noted.oddities.append("reader \(number): \(status) \(code), \(reason)")
        case .lost(let why): lose(why)
        }
    }

    private func changeFleetingZone(_ client: DatabaseClient) {
        guard let fleeting = field.fleeting else { return lookUp(client) }
        changeZone(UserZone(user: user, zone: fleeting), random.once(in: 3), client)
    }

    private func changeZone(_ location: UserZone, _ deletes: Bool, _ client: DatabaseClient) {
        let began = DatabaseClient.now
        let reply = client.modifyZone(location.zone, deletes: deletes)
        var span = Span(began: began, ended: DatabaseClient.now)
        var isDone: Bool?
        switch reply {
        case .success: isDone = true
        case .fault("ZONE_NOT_FOUND", _, _) where deletes:
            noted.missingZones.append(
                MissingZone(location: location, span: span, by: "writer \(number)"))
            isDone = false
        case .fault("TRY_AGAIN_LATER", let reason, 503):
            isDone = reason.contains("full") ? false : nil
            if isDone == nil { span.ended = .max }
        case .fault(let code, let reason, let status):
            noted.oddities.append("writer \(number): \(status) \(code), \(reason)")
            isDone = false
        case .lost(let why):
            lose(why)
            span.ended = .max
        }
        noted.zoneChanges.append(
            ZoneChange(location: location, span: span, deletes: deletes, isDone: isDone))
        if deletes { believed[location] = nil }
    }
}
