import CloudModel
import JSON
import Storage

/// Finds which file a field of a record names, for who may see the record.
package struct FindAsset {
    private let zone: ZoneID
    private let database: Database

    package init(in zone: ZoneID, of database: Database) {
        self.zone = zone
        self.database = database
    }

    /// Blocks: never on an event loop.
    ///
    /// - Parameters:
    ///   - field: what the record calls it.
    ///   - index: which one of a list, from 0.
    /// - Throws: `Fault` as a lookup of the record; NOT_FOUND where its field names no such file.
    package func file(of record: String, field: String, index: Int) throws -> AssetDigest {
        try database.read { snapshot in
            var writer = JSONWriter(reserving: 1_024)
            try LookupRecords(in: zone, of: database, snapshot: snapshot)
                .append(LookupRecords.Item(name: record, rendering: .whole), to: &writer)
            let shown = try JSONDocument(parsing: writer.bytes).root["fields"]?.members
                .first { $0.key.string == field }?.value["value"]
            let values = shown.map { $0.kind == .array ? Array($0.elements) : [$0] } ?? []
            let checksum =
                values.indices.contains(index) ? values[index]["fileChecksum"]?.string : nil
            guard let checksum,
                let found = try files(of: record, snapshot)
                    .first(where: { ReceiptText.checksum(of: $0) == checksum })
            else {
                throw Fault(.notFound, "the record has no file \(index) in \(Fault.shown(field))")
            }
            return found
        }
    }

    /// All that the record's fields name.
    private func files(of name: String, _ snapshot: any StoreSnapshot) throws -> [AssetDigest] {
        let stored =
            database.scope == .shared
            ? try database.access(to: zone, snapshot).zone : try database.zone(zone, snapshot)
        guard let stored, let name = RecordName(name),
            let head = try snapshot.head(of: name, in: stored.number)
        else { return [] }
        return try snapshot.version(at: head.position, in: stored.number) {
            try ErasePerson.files(of: $0)
        } ?? []
    }
}
