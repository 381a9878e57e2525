import SQLite
import Storage
import StoredRows

/// Whether anybody follows the store, and of which records they want the previous versions.
///
/// The writer has it in memory, so that a write of a store that nobody follows asks one flag.
struct Following {
    private struct Types {
        var isAll = false
        var some: Set<Int64> = []
    }

    private enum Scope: Hashable {
        case owner(OwnerNumber)
        case zone(ZoneNumber)
    }

    /// Whether each change is to be noted.
    private(set) var isOn = false
    private var wanted: [Scope: Types] = [:]

    /// As the file has it.
    init(_ connection: Connection) throws {
        let followers = try connection.prepare(
            "SELECT 1 FROM followers WHERE position < ?1 LIMIT 1")
        defer { followers.reset() }
        followers.bind(Self.letGo, at: 1)
        isOn = try followers.step()
        let rows = try connection.prepare(
            "SELECT DISTINCT scope, number, record_type FROM previous_version_needs")
        defer { rows.reset() }
        while try rows.step() {
            let number = rows.int64(1)
            let scope: Scope =
                switch rows.int64(0) {
                case Self.ownerScope: .owner(OwnerNumber(number))
                case Self.zoneScope: .zone(ZoneNumber(number))
                default: throw InvalidRow(table: "previous_version_needs")
                }
            let type = rows.int64(2)
            if type == Self.allTypes {
                wanted[scope, default: Types()].isAll = true
            } else {
                wanted[scope, default: Types()].some.insert(type)
            }
        }
    }

    /// What stands for the position of a follower that was let go: beyond all others, so that no change waits for it.
    static let letGo = Position.max

    /// What stands in the column `scope` of `previous_version_needs`.
    static let ownerScope: Int64 = 1
    static let zoneScope: Int64 = 2
    /// What stands for a type where all are wanted.
    static let allTypes: Int64 = 0

    /// Whether some previous versions in a zone may be wanted.
    func mayWant(in zone: StoredZone) -> Bool {
        !wanted.isEmpty
            && (wanted[.zone(zone.number)] != nil || wanted[.owner(zone.owner)] != nil)
    }

    /// Whether the previous version of a record of one of two types is wanted: before and after a change.
    func wants(_ types: (Int64, Int64), in zone: StoredZone) -> Bool {
        [Scope.zone(zone.number), .owner(zone.owner)].contains { scope in
            wanted[scope].map {
                $0.isAll || $0.some.contains(types.0) || $0.some.contains(types.1)
            } ?? false
        }
    }
}
