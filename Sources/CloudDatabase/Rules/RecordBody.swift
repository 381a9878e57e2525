import CloudModel
import JSON
import Storage

/// The final JSON of a record, made once when it is saved (rulings.md 15).
///
/// Key order: recordName, recordType, fields, pluginFields, recordChangeTag, created, modified,
/// deleted, zoneID, parent.
enum RecordBody {
    /// Who saved a record, when, and from what device.
    struct Stamp {
        let moment: Milliseconds
        let user: UserRecordName
        let device: String
    }

    /// What a save keeps of the version before it, as JSON text.
    struct Kept {
        var fields: [(name: String, member: [UInt8])] = []
        /// Of all members of `fields` with their commas.
        var fieldsBytes = 0
        var created: [UInt8] = []
        var creator: String?
        var type = ""
        var parent: RecordName?
    }

    /// What all records of a batch have in common: who saves them, when, where.
    struct Batch {
        /// The whole `modified` object, which a new record's `created` equals.
        private let modified: [UInt8]
        /// From `deleted` to the end of `zoneID`.
        private let ending: [UInt8]

        /// - Parameter zone: the whole `zoneID` object.
        init(_ stamp: Stamp, zone: [UInt8]) {
            var writer = JSONWriter(reserving: 160)
            RecordBody.append(stamp, to: &writer)
            modified = writer.bytes
            writer = JSONWriter(reserving: zone.count + 32)
            writer.raw(",\"deleted\":false,\"zoneID\":")
            writer.raw(zone)
            ending = writer.bytes
        }

        /// The whole body of one record.
        ///
        /// - Parameters:
        ///   - fields: the members of `fields`, joined by commas.
        ///   - created: the former version's `created` object; nil for a new record.
        func body(
            name: RecordName, type: RecordTypeName, fields: [UInt8], position: Position,
            created: [UInt8]?, parent: RecordName?
        ) -> [UInt8] {
            var writer = JSONWriter(
                reserving: fields.count + 2 * modified.count + ending.count
                    + name.text.utf8.count + type.text.utf8.count + 160)
            writer.raw("{\"recordName\":")
            writer.string(name.text)
            writer.raw(",\"recordType\":\"")
            writer.raw(ascii: type.text)
            writer.raw("\",\"fields\":{")
            writer.raw(fields)
            writer.raw("},\"pluginFields\":{},\"recordChangeTag\":\"")
            writer.raw(ascii: ChangeTag.text(position))
            writer.raw("\",\"created\":")
            writer.raw(created ?? modified)
            writer.raw(",\"modified\":")
            writer.raw(modified)
            writer.raw(ending)
            if let parent {
                writer.raw(",\"parent\":{\"recordName\":")
                writer.string(parent.text)
                writer.raw("}")
            }
            writer.raw("}")
            return writer.bytes
        }
    }

    /// The body of a deletion in the feeds (rulings.md 30).
    static func tombstone(name: RecordName, type: String, zone: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(reserving: zone.count + 120)
        writer.raw("{\"recordName\":")
        writer.string(name.text)
        writer.raw(",\"deleted\":true,\"zoneID\":")
        writer.raw(zone)
        writer.raw(",\"deletedRecordType\":")
        writer.string(type)
        writer.raw("}")
        return writer.bytes
    }

    /// A body as those are shown it who do not see the record's parent.
    static func withoutParent(_ body: [UInt8]) throws -> [UInt8] {
        var writer = JSONWriter(reserving: body.count)
        try body.withUnsafeBytes {
            try RecordRendering.whole.append($0, hidingParent: true, to: &writer)
        }
        return writer.bytes
    }

    /// Reads what a save, a deletion or a permission check needs of a stored body.
    static func read(_ body: UnsafeRawBufferPointer) throws -> Kept {
        let root = try JSONDocument(copying: body).root
        var kept = Kept()
        kept.type = root["recordType"]?.string ?? ""
        kept.created = root["created"]?.withRawBytes { [UInt8]($0) } ?? []
        kept.creator = root["created"]?["userRecordName"]?.string
        kept.parent = root["parent"]?["recordName"]?.string.flatMap { RecordName($0) }
        guard let fields = root["fields"] else { return kept }
        kept.fieldsBytes = fields.withRawBytes { $0.count } - 2
        kept.fields.reserveCapacity(fields.count)
        for (key, value) in fields.members {
            var writer = JSONWriter()
            key.withRawBytes { writer.raw($0) }
            writer.raw(":")
            value.withRawBytes { writer.raw($0) }
            kept.fields.append((key.string ?? "", writer.bytes))
        }
        return kept
    }

    private static func append(_ stamp: Stamp, to writer: inout JSONWriter) {
        writer.raw("{\"timestamp\":")
        writer.integer(stamp.moment)
        writer.raw(",\"userRecordName\":\"")
        writer.raw(ascii: stamp.user.text)
        writer.raw("\",\"deviceID\":")
        writer.string(stamp.device)
        writer.raw("}")
    }
}

extension JSONWriter {
    /// Appends text that needs no escapes.
    package mutating func raw(ascii text: String) { bytes.append(contentsOf: text.utf8) }
}
