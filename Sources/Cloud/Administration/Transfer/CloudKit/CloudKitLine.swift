import CloudModel
import JSON

/// The lines that the file has for what CloudKit answers.
enum CloudKitLine {
    /// The first line: where the records are from.
    static func beginning(_ source: CloudKitSource) -> [UInt8] {
        var line = JSONLine()
        line.beginObject()
        line.key("kind")
        line.text("export")
        line.key("version")
        line.number(Int64(TransferLine.version))
        for (key, text) in [
            ("source", source.host), ("container", source.container),
            ("environment", source.environment), ("database", source.scope.rawValue),
        ] {
            line.key(key)
            line.text(text)
        }
        line.endObject()
        line.lineEnd()
        return line.bytes
    }

    /// Says of a record that was read before that it is there no more.
    static func gone(_ name: String, in zone: String) -> [UInt8] {
        var line = JSONLine()
        line.beginObject()
        line.key("kind")
        line.text("gone")
        line.key("recordName")
        line.text(name)
        line.key("zoneID")
        line.beginObject()
        line.key("zoneName")
        line.text(zone)
        line.endObject()
        line.endObject()
        line.lineEnd()
        return line.bytes
    }

    /// A record: its names, dates, fields and parent.
    ///
    /// Its owner's name there, its tag and its share are left out: they mean nothing here.
    /// - Parameters:
    ///   - zone: the zone that was read.
    ///   - asset: appends what stands for an asset.
    static func record(
        _ record: JSONValue, in zone: String,
        asset: (_ field: String, _ value: JSONValue, inout JSONWriter) throws -> Void
    ) throws -> [UInt8] {
        let owner = record["zoneID"]?["ownerRecordName"]?.string
        var writer = JSONWriter(reserving: 1_024)
        writer.raw("{\"recordName\":")
        writer.string(record["recordName"]?.string ?? "")
        writer.member("recordType", record["recordType"]?.string ?? "")
        writer.raw(",\"fields\":{")
        var isFirst = true
        if let fields = record["fields"] {
            for (key, field) in fields.members {
                writer.separate(&isFirst)
                key.withRawBytes { writer.raw($0) }
                writer.raw(":")
                try append(field, of: key.string ?? "", owner, to: &writer, asset)
            }
        }
        writer.raw("}")
        for key: StaticString in ["created", "modified"] {
            guard let value = record[key] else { continue }
            writer.raw(",\"")
            writer.raw(key)
            writer.raw("\":")
            writer.compact(value)
        }
        writer.raw(",\"zoneID\":{\"zoneName\":")
        writer.string(zone)
        writer.raw("}")
        if let parent = record["parent"]?["recordName"]?.string {
            writer.raw(",\"parent\":{\"recordName\":")
            writer.string(parent)
            writer.raw("}")
        }
        writer.raw("}\n")
        return writer.bytes
    }

    private static func append(
        _ field: JSONValue, of name: String, _ owner: String?, to writer: inout JSONWriter,
        _ asset: (String, JSONValue, inout JSONWriter) throws -> Void
    ) throws {
        let type = field["type"]?.string ?? ""
        let isReference = type.hasPrefix("REFERENCE")
        guard isReference || type.hasPrefix("ASSET"), let value = field["value"], !value.isNull
        else { return writer.compact(field) }
        writer.raw("{\"value\":")
        let values = value.kind == .array ? Array(value.elements) : [value]
        if value.kind == .array { writer.raw("[") }
        var isFirst = true
        for one in values {
            writer.separate(&isFirst)
            if isReference {
                append(reference: one, owner, to: &writer)
            } else {
                try asset(name, one, &writer)
            }
        }
        if value.kind == .array { writer.raw("]") }
        writer.member("type", type)
        writer.raw("}")
    }

    /// A reference; the owner's name there is left out where it is the owner of the record too.
    private static func append(
        reference: JSONValue, _ owner: String?, to writer: inout JSONWriter
    ) {
        writer.raw("{\"recordName\":")
        writer.string(reference["recordName"]?.string ?? "")
        writer.member("action", reference["action"]?.string ?? "NONE")
        if let zone = reference["zoneID"], let name = zone["zoneName"]?.string {
            writer.raw(",\"zoneID\":{\"zoneName\":")
            writer.string(name)
            if let other = zone["ownerRecordName"]?.string, other != owner,
                !other.hasPrefix("_defaultOwner"), !other.hasPrefix("__defaultOwner")
            {
                writer.member("ownerRecordName", other)
            }
            writer.raw("}")
        }
        writer.raw("}")
    }
}
