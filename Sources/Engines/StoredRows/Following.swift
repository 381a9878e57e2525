import Storage

/// Whether anybody follows the store, and of which records they want the previous versions.
///
/// The writer has it in memory, so that a write of a store that nobody follows asks one flag.
package struct Following: Sendable {
    private struct Types: Sendable {
        var isAll = false
        var some: Set<Int64> = []
    }

    private enum Scope: Hashable, Sendable {
        case owner(OwnerNumber)
        case zone(ZoneNumber)
    }

    /// Whether each change is to be noted.
    package let isOn: Bool
    private var wanted: [Scope: Types] = [:]

    package init(isOn: Bool) { self.isOn = isOn }

    /// Adds a row of `previous_version_needs`.
    ///
    /// - Throws: `InvalidRow`.
    package mutating func add(scope: Int64, number: Int64, type: Int64) throws {
        let scope: Scope =
            switch scope {
            case Self.ownerScope: .owner(OwnerNumber(number))
            case Self.zoneScope: .zone(ZoneNumber(number))
            default: throw InvalidRow(table: "previous_version_needs")
            }
        if type == Self.allTypes {
            wanted[scope, default: Types()].isAll = true
        } else {
            wanted[scope, default: Types()].some.insert(type)
        }
    }

    /// What stands for the position of a follower that was let go: beyond all others, so that no change waits for it.
    package static let letGo = Position.max

    /// What stands in the column `scope` of `previous_version_needs`.
    package static let ownerScope: Int64 = 1
    package static let zoneScope: Int64 = 2
    /// What stands for a type where all are wanted.
    package static let allTypes: Int64 = 0

    /// Whether some previous versions in a zone may be wanted.
    package func mayWant(in zone: StoredZone) -> Bool {
        !wanted.isEmpty
            && (wanted[.zone(zone.number)] != nil || wanted[.owner(zone.owner)] != nil)
    }

    /// Whether the previous version of a record of one of two types is wanted: before and after a change.
    package func wants(_ types: (Int64, Int64), in zone: StoredZone) -> Bool {
        [Scope.zone(zone.number), .owner(zone.owner)].contains { scope in
            wanted[scope].map {
                $0.isAll || $0.some.contains(types.0) || $0.some.contains(types.1)
            } ?? false
        }
    }
}
