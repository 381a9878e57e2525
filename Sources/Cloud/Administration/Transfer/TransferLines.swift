import CloudDatabase
import CloudModel
import JSON
import Storage

/// The lines of an export that are no records: each an object with a `kind`.
enum TransferLine {
    static let version = 1

    /// The first line: where the records are from, and which they are.
    static func beginning(
        _ environment: ContainerEnvironment, _ target: TransferTarget,
        _ options: ExportRecords.Options
    ) -> [UInt8] {
        var line = JSONLine()
        line.beginObject()
        line.key("kind")
        line.text("export")
        line.key("version")
        line.number(Int64(version))
        line.key("container")
        line.text(environment.container.name)
        line.key("environment")
        line.text(environment.environment.rawValue)
        for (key, value) in [
            ("user", target.email), ("zone", target.zone), ("type", options.type),
        ] {
            guard let value else { continue }
            line.key(key)
            line.text(value)
        }
        if !options.filters.isEmpty {
            line.key("filters")
            line.beginArray()
            for filter in options.filters { line.text(filter) }
            line.endArray()
        }
        line.endObject()
        line.lineEnd()
        return line.bytes
    }

    static func schema(_ schema: Schema) -> [UInt8] {
        var line = JSONLine()
        line.beginObject()
        line.key("kind")
        line.text("schema")
        line.key("text")
        line.text(SchemaLanguage.print(schema))
        line.endObject()
        line.lineEnd()
        return line.bytes
    }

    /// Before the records of a zone: whose it is, by an address too, since names differ between containers.
    static func zone(_ name: ZoneName, owner: UserRecordName, email: String?) -> [UInt8] {
        var line = JSONLine()
        line.beginObject()
        line.key("kind")
        line.text("zone")
        line.key("database")
        line.text((owner == .publicOwner ? DatabaseScope.public : .private).rawValue)
        line.key("zoneID")
        line.beginObject()
        line.key("zoneName")
        line.text(name.text)
        line.key("ownerRecordName")
        line.text(owner.text)
        line.endObject()
        if let email {
            line.key("emailAddress")
            line.text(email)
        }
        line.endObject()
        line.lineEnd()
        return line.bytes
    }

    /// Appends a share: its record, and the record that it is for.
    static func appendShare(
        _ root: SurveyedRecord.SharedRoot, _ body: UnsafeRawBufferPointer,
        to writer: inout JSONWriter
    ) {
        writer.raw("{\"kind\":\"share\"")
        if case .record(let name) = root { writer.member("rootRecordName", name.text) }
        writer.raw(",\"record\":")
        writer.raw(body)
        writer.raw("}\n")
    }

    /// How far the export had come: what follows it was made after this.
    static func mark(_ cursor: SurveyCursor, records: Int) -> [UInt8] {
        Array(
            ("{\"kind\":\"mark\",\"cursor\":\"\(cursor.zone.value).\(cursor.position)\","
                + "\"records\":\(records)}\n").utf8)
    }

    /// The last line; a file without it is not whole.
    static func end(records: Int) -> [UInt8] {
        Array("{\"kind\":\"end\",\"records\":\(records)}\n".utf8)
    }

    /// What a line's `mark` says; nil for any other line.
    static func mark(in line: [UInt8]) -> (cursor: SurveyCursor, records: Int)? {
        // NB: a line that is no JSON is no mark.
        guard let root = try? JSONDocument(parsing: line).root,
            root["kind"]?.string == "mark", let text = root["cursor"]?.string,
            let records = root["records"]?.int64.flatMap({ Int(exactly: $0) })
        else { return nil }
        let parts = text.split(separator: ".").compactMap { Int64($0) }
        guard parts.count == 2 else { return nil }
        return (SurveyCursor(zone: ZoneNumber(parts[0]), position: parts[1]), records)
    }

    /// Whether a line is the last of a whole export.
    static func isEnd(_ line: [UInt8]) -> Bool {
        // NB: as above.
        (try? JSONDocument(parsing: line).root)?["kind"]?.string == "end"
    }
}
