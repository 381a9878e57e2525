import CloudModel
import SQLite
import Storage

/// Whether anybody follows the store, and of which records they want the former versions.
///
/// The writer has it in memory, so that a write of a store that nobody follows asks one flag.
struct Following {
    private struct Types {
        var isAll = false
        var some: Set<Int64> = []
    }

    /// Whether each change is to be noted.
    private(set) var isOn = false
    private var wanted: [FormerWanted.Place: Types] = [:]

    /// As the file has it.
    init(_ connection: Connection) throws {
        let followers = try connection.prepare(
            "SELECT 1 FROM followers WHERE position < ?1 LIMIT 1")
        defer { followers.reset() }
        followers.bind(Self.letGo, at: 1)
        isOn = try followers.step()
        let rows = try connection.prepare(
            "SELECT DISTINCT place, number, record_type FROM former_wanted")
        defer { rows.reset() }
        while try rows.step() {
            let number = rows.int64(1)
            let place: FormerWanted.Place =
                switch rows.int64(0) {
                case Self.ownerPlace: .owner(OwnerNumber(number))
                case Self.zonePlace: .zone(ZoneNumber(number))
                default: throw InvalidRow(table: "former_wanted")
                }
            let type = rows.int64(2)
            if type == Self.allTypes {
                wanted[place, default: Types()].isAll = true
            } else {
                wanted[place, default: Types()].some.insert(type)
            }
        }
    }

    /// What stands for the position of a follower that was let go: beyond all others, so that no change waits for it.
    static let letGo = Position.max

    /// What stands in the column `place` of `former_wanted`.
    static let ownerPlace: Int64 = 1
    static let zonePlace: Int64 = 2
    /// What stands for a type where all are wanted.
    static let allTypes: Int64 = 0

    /// Whether some former versions in a zone may be wanted.
    func mayWant(in zone: StoredZone) -> Bool {
        !wanted.isEmpty
            && (wanted[.zone(zone.number)] != nil || wanted[.owner(zone.owner)] != nil)
    }

    /// Whether the former version of a record of one of two types is wanted: before and after a change.
    func wants(_ types: (Int64, Int64), in zone: StoredZone) -> Bool {
        [.zone(zone.number), .owner(zone.owner)].contains { place in
            wanted[place].map {
                $0.isAll || $0.some.contains(types.0) || $0.some.contains(types.1)
            } ?? false
        }
    }
}
