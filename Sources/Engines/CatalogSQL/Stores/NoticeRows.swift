import CloudModel
import Storage
import StoredRows

// What rows of destinations and notices say; columns as both engines ask for them.

extension StoredDestination {
    /// Number, kind, key, user, device, address, session, when it was made and used, badge, failures, when it is due.
    package init(row: any CatalogRow) throws {
        guard let kind = DestinationKind(rawValue: row.int64(1)) else {
            throw InvalidRow(table: "destinations")
        }
        let device = row.string(4)
        self.init(
            number: DestinationNumber(row.int64(0)), kind: kind, key: row.array(2),
            user: UserRecordName(row.string(3)), device: device.isEmpty ? nil : device,
            address: row.array(5), session: row.optionalArray(6), madeAt: row.int64(7),
            usedAt: row.int64(8), badge: row.int64(9), failures: Int(row.int64(10)),
            dueAt: row.optionalInt64(11))
    }
}

extension StoredNotice {
    /// Number, destination, identifier, scope, zone, type, whether it is of an own zone, collapse ID, payload, time,
    /// trace, and of one that was given up why and when.
    package init(row: any CatalogRow) throws {
        guard let scope = DatabaseScope(stored: row.int64(3)) else {
            throw InvalidRow(table: row.isNull(12) ? "outbox" : "dead_letters")
        }
        self.init(
            number: NoticeNumber(row.int64(0)), destination: DestinationNumber(row.int64(1)),
            identifier: row.string(2), scope: scope,
            condition: NoticeCondition(
                zone: row.optionalInt64(4).map { ZoneNumber($0) }, type: row.optionalInt64(5),
                isOwn: row.int64(6) != 0),
            collapseID: row.optionalString(7), payload: row.array(8), madeAt: row.int64(9),
            trace: row.optionalString(10),
            end: row.optionalInt64(12).map { NoticeEnd(reason: row.string(11), at: $0) })
    }
}
