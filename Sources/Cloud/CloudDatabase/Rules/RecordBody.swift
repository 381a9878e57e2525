import CloudModel
import JSON
import Storage

/// The final JSON of a record, made once when it is saved (rulings.md 15).
///
/// The order of keys is: recordName, recordType, fields, pluginFields, recordChangeTag, created, modified,
/// deleted, zoneID, parent, share, shortGUID. A share's participants are not stored in it.
enum RecordBody {
    /// Who saved a record, when, and from what device.
    struct Stamp {
        let moment: Milliseconds
        let user: UserRecordName
        let device: String
    }

    /// What a save keeps of the version before it, as JSON text.
    struct Previous {
        let body: StoredBody
        /// The whole `created` object.
        let created: [UInt8]
        let type: String
        let parent: RecordName?
        let sharing: Sharing

        /// Reads what a save needs of a stored body.
        init(_ body: StoredBody) {
            self.body = body
            created = body.range(of: "created").map { [UInt8](body.text[$0]) } ?? []
            type = body.member("recordType")?.string ?? ""
            parent = body.member("parent")?["recordName"]?.string.flatMap { RecordName($0) }
            sharing = Sharing(body)
        }

        /// The members of `fields`, joined by commas.
        var fieldsText: ArraySlice<UInt8> {
            body.fields.map { body.text[$0].dropFirst().dropLast() } ?? []
        }
    }

    /// What a body says about sharing.
    struct Sharing: Equatable {
        /// The share record that the record is the root of.
        var share: RecordName?
        var shortGUID: ShortGUID?
    }

    /// What all records of a batch have in common: who saves them, when, where.
    struct Batch {
        /// From `modified` to the end of `zoneID`.
        private let ending: [UInt8]
        /// The same from `created` on, which says of a new record what `modified` says.
        private let newEnding: [UInt8]
        private let zone: [UInt8]

        /// - Parameter zone: the whole `zoneID` object.
        init(_ stamp: Stamp, zone: [UInt8]) {
            self.zone = zone
            var writer = JSONWriter(reserving: 160)
            RecordBody.append(stamp, to: &writer)
            let modified = writer.bytes
            writer = JSONWriter(reserving: modified.count + zone.count + 48)
            writer.raw(",\"modified\":")
            writer.raw(modified)
            writer.raw(",\"deleted\":false,\"zoneID\":")
            writer.raw(zone)
            ending = writer.bytes
            newEnding = Self.beforeCreated + modified + ending
        }

        private static let beforeCreated = Array("\",\"created\":".utf8)

        /// Makes the whole body of one record.
        ///
        /// - Parameters:
        ///   - fields: the members of `fields`, joined by commas.
        ///   - created: the previous version's `created` object; nil for a new record.
        func body(
            name: RecordName, type: RecordTypeName, fields: [UInt8], position: Position,
            created: [UInt8]?, parent: RecordName?, sharing: Sharing = Sharing()
        ) -> Made {
            var writer = JSONWriter(
                reserving: fields.count + newEnding.count + name.text.utf8.count
                    + type.text.utf8.count + 160)
            writer.raw("{\"recordName\":")
            writer.string(name.text)
            writer.raw(",\"recordType\":\"")
            writer.raw(ascii: type.text)
            writer.raw("\",\"fields\":{")
            writer.raw(fields)
            let fieldsEnd = writer.bytes.count
            writer.raw("},\"pluginFields\":{},\"recordChangeTag\":\"")
            ChangeTag.append(position, to: &writer.bytes)
            if let created {
                writer.raw(Self.beforeCreated)
                writer.raw(created)
                writer.raw(ending)
            } else {
                writer.raw(newEnding)
            }
            if let parent {
                writer.raw(",\"parent\":{\"recordName\":")
                writer.string(parent.text)
                writer.raw("}")
            }
            RecordBody.append(sharing, zone: zone, to: &writer)
            writer.raw("}")
            return Made(bytes: writer.bytes, fieldsEnd: fieldsEnd)
        }
    }

    /// A body that was just made.
    struct Made {
        let bytes: [UInt8]
        /// Where the members of `fields` end.
        let fieldsEnd: Int
    }

    /// A stored body with another position, and with other words about sharing.
    ///
    /// It keeps who saved the record and when: sharing is not the modifier's doing.
    static func rewritten(
        _ body: [UInt8], at position: Position, sharing: Sharing, zone: [UInt8]
    ) throws -> [UInt8] {
        let root = try JSONDocument(parsing: body).root
        var writer = JSONWriter(reserving: body.count + 320)
        writer.raw("{")
        var isFirst = true
        for (key, value) in root.members {
            if key.stringEquals("share") || key.stringEquals("shortGUID") { continue }
            if !isFirst { writer.raw(",") }
            isFirst = false
            key.withRawBytes { writer.raw($0) }
            writer.raw(":")
            if key.stringEquals("recordChangeTag") {
                writer.string(ChangeTag.text(position))
            } else {
                value.withRawBytes { writer.raw($0) }
            }
        }
        append(sharing, zone: zone, to: &writer)
        writer.raw("}")
        return writer.bytes
    }

    private static func append(_ sharing: Sharing, zone: [UInt8], to writer: inout JSONWriter) {
        if let share = sharing.share {
            writer.raw(",\"share\":{\"recordName\":")
            writer.string(share.text)
            writer.raw(",\"zoneID\":")
            writer.raw(zone)
            writer.raw("}")
        }
        if let shortGUID = sharing.shortGUID {
            writer.raw(",\"shortGUID\":\"")
            writer.raw(ascii: shortGUID.text)
            writer.raw("\"")
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

    /// The object of a version's fields; nil for a body without one.
    static func fields(of version: StoredVersion) throws -> JSONValue? {
        guard let range = version.ranges?.fields else {
            return try JSONDocument(copying: version.body).root["fields"]
        }
        return try JSONDocument(copying: UnsafeRawBufferPointer(rebasing: version.body[range])).root
    }

    /// Who made the record of a version; nil when nobody is named, and when nobody can tell.
    static func creator(of version: StoredVersion) throws -> String? {
        if version.isDamaged { return nil }
        return try version.creator ?? creator(of: version.body)
    }

    /// Who saved the record of a version last.
    static func modifier(of version: StoredVersion) throws -> String? {
        try version.modifier ?? modifier(of: version.body)
    }

    /// Who made the record of a stored body; searches from the end, so that large fields cost nothing.
    static func creator(of body: UnsafeRawBufferPointer) throws -> String? {
        // What the server writes comes after the fields, and no member of `fields` begins like this.
        guard let start = lastOffset(of: createdKey, in: body) else {
            return try JSONDocument(copying: body).root["created"]?["userRecordName"]?.string
        }
        let created = body[(start + createdKey.count)...]
        let name = Array("\"userRecordName\":\"".utf8)
        guard let range = created.firstRange(of: name),
            let end = created[range.upperBound...].firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        return String(decoding: created[range.upperBound..<end], as: UTF8.self)
    }

    private static let createdKey = Array(",\"created\":{\"timestamp\":".utf8)

    private static func lastOffset(of key: [UInt8], in body: UnsafeRawBufferPointer) -> Int? {
        var offset = body.count - key.count
        while offset >= 0 {
            if body[offset] == key[0], body[offset..<(offset + key.count)].elementsEqual(key) {
                return offset
            }
            offset -= 1
        }
        return nil
    }

    /// Who saved the record of a stored body last.
    static func modifier(of body: UnsafeRawBufferPointer) throws -> String? {
        var walk = try JSONMemberWalk(body)
        guard let range = try walk.value(of: "modified") else { return nil }
        let modified = UnsafeRawBufferPointer(rebasing: body[range])
        return try JSONDocument(copying: modified).root["userRecordName"]?.string
    }

    /// A body for those who may not know who saved the record last: it says that another user did.
    static func modified(
        by user: UserRecordName, _ body: UnsafeRawBufferPointer
    ) throws -> [UInt8] {
        try replacing(in: body) { key, value, writer in
            guard key.stringEquals("modified") else { return false }
            let moment = value["timestamp"]?.int64 ?? 0
            append(Stamp(moment: moment, user: user, device: "iCloud"), to: &writer)
            return true
        }
    }

    /// A stored body with another position, which names another user as creator or modifier.
    static func renamed(
        _ user: UserRecordName, to other: String, at position: Position,
        _ body: UnsafeRawBufferPointer
    ) throws -> [UInt8] {
        try replacing(in: body) { key, value, writer in
            let isStamp = key.stringEquals("created") || key.stringEquals("modified")
            if isStamp, value["userRecordName"]?.string == user.text {
                writer.raw("{\"timestamp\":")
                writer.integer(value["timestamp"]?.int64 ?? 0)
                writer.raw(",\"userRecordName\":")
                writer.string(other)
                // The name of a device tells of its owner, too.
                writer.raw(",\"deviceID\":\"iCloud\"}")
            } else if key.stringEquals("recordChangeTag") {
                writer.string(ChangeTag.text(position))
            } else {
                return false
            }
            return true
        }
    }

    /// A body with other values of some members.
    ///
    /// - Parameter replace: writes a member's new value, or returns false for one that stays.
    private static func replacing(
        in body: UnsafeRawBufferPointer,
        _ replace: (_ key: JSONValue, _ value: JSONValue, inout JSONWriter) -> Bool
    ) throws -> [UInt8] {
        var writer = JSONWriter(reserving: body.count + 80)
        writer.raw("{")
        var isFirst = true
        for (key, value) in try JSONDocument(copying: body).root.members {
            if !isFirst { writer.raw(",") }
            isFirst = false
            key.withRawBytes { writer.raw($0) }
            writer.raw(":")
            if !replace(key, value, &writer) { value.withRawBytes { writer.raw($0) } }
        }
        writer.raw("}")
        return writer.bytes
    }

    /// A body for those who may not see the record's parent.
    static func withoutParent(_ body: UnsafeRawBufferPointer) throws -> [UInt8] {
        var writer = JSONWriter(reserving: body.count)
        var rendering = RecordRendering.whole
        rendering.keepsAssetsAsStored = true
        try rendering.append(body, hidingParent: true, assets: nil, to: &writer)
        return writer.bytes
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

extension RecordBody.Sharing {
    init(_ body: StoredBody) {
        share = body.member("share")?["recordName"]?.string.flatMap { RecordName($0) }
        shortGUID = body.member("shortGUID")?.string.flatMap { ShortGUID($0) }
    }
}

extension JSONWriter {
    /// Appends text that needs no escapes.
    package mutating func raw(ascii text: String) { bytes.append(contentsOf: text.utf8) }
}
