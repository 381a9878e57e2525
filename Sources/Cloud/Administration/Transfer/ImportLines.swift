import CloudModel
import JSON
import Storage

/// One line of a file that is imported.
struct ImportLine {
    enum Content {
        case record(ImportedRecord)
        /// A share, and the name of the record that it is for; nil for a whole zone's.
        case share(root: String?, ImportedRecord)
        case schema(String)
        /// Whose zone the records that follow are in, and how they are known elsewhere.
        case zone(owner: String, email: String?)
        /// Why it is none of these.
        case mistake(String)
    }

    /// Where in the file it begins.
    let offset: Int64
    let bytes: [UInt8]
    let content: Content

    var isShare: Bool { if case .share = content { true } else { false } }
}

/// A record as a line has it.
struct ImportedRecord {
    let json: JSONValue
    let name: String?
    let zone: ZoneName
    /// The user record name of its zone's owner; nil where nothing is said.
    let owner: String?
}

/// Splits a file into lines and reads what each is.
final class ImportLines {
    private let format: TransferFormat
    private let type: RecordTypeName?
    private let zone: ZoneName?
    private let schema: () throws -> Schema
    private var table: CSVRecords?

    /// - Parameters:
    ///   - type: records of another are passed over.
    ///   - zone: the same of zones.
    init(
        _ format: TransferFormat, type: RecordTypeName?, zone: ZoneName?,
        schema: @escaping () throws -> Schema
    ) {
        (self.format, self.type, self.zone, self.schema) = (format, type, zone, schema)
    }

    /// Reads the names of a table's columns at the beginning of the file.
    ///
    /// - Returns: how many bytes they take.
    func takeHead(_ bytes: [UInt8]) throws -> Int {
        var index = 0
        do {
            // A mark of the byte order, which spreadsheets write.
            if bytes.starts(with: [0xef, 0xbb, 0xbf]) { index = 3 }
            guard let head = try CSVText.row(bytes, at: &index) else {
                throw RecordsRefusal("the table has no row of column names")
            }
            table = try CSVRecords(head: head, schema: try schema(), type: type)
        } catch let mistake as CSVMistake {
            throw RecordsRefusal("the row of column names: \(mistake)")
        }
        return index
    }

    /// Where the last whole line of a text ends; 0 for none.
    func endOfLines(_ bytes: [UInt8]) -> Int {
        guard format == .jsonl else { return CSVText.endOfRows(bytes) }
        return bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    }

    /// The lines of a stretch that begins with one, without empty ones and those that are not wanted.
    func split(_ bytes: [UInt8], at offset: Int64) -> [ImportLine] {
        var found: [ImportLine] = []
        var start = 0
        while start < bytes.count {
            let end = endOfLine(bytes, from: start)
            let line = Array(bytes[start..<end])
            if line.contains(where: { $0 > 0x20 }) {
                let read = self.line(line, at: offset + Int64(start))
                if isWanted(read) { found.append(read) }
            }
            start = end
        }
        return found
    }

    private func endOfLine(_ bytes: [UInt8], from start: Int) -> Int {
        guard format == .csv else {
            return bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
        }
        var isInQuotes = false
        for index in start..<bytes.count {
            if bytes[index] == UInt8(ascii: "\"") { isInQuotes.toggle() }
            if bytes[index] == UInt8(ascii: "\n"), !isInQuotes { return index + 1 }
        }
        return bytes.count
    }

    private func isWanted(_ line: ImportLine) -> Bool {
        guard case .record(let record) = line.content else {
            if case .share(_, let record) = line.content {
                return (zone.map { $0 == record.zone } ?? true) && type == nil
            }
            return true
        }
        return (zone.map { $0 == record.zone } ?? true)
            && (type.map { record.json["recordType"]?.string == $0.text } ?? true)
    }

    /// Reads one line.
    func line(_ bytes: [UInt8], at offset: Int64) -> ImportLine {
        ImportLine(offset: offset, bytes: bytes, content: content(bytes))
    }

    private func content(_ bytes: [UInt8]) -> ImportLine.Content {
        do {
            var text = bytes
            if let table {
                var index = 0
                guard let row = try CSVText.row(bytes, at: &index) else {
                    return .mistake("an empty row")
                }
                text = try table.record(row)
            }
            let root = try JSONDocument(parsing: text).root
            guard root.kind == .object else { return .mistake("expected an object") }
            guard let kind = root["kind"] else { return record(root) }
            return other(kind.string ?? "", root)
        } catch {
            return .mistake("\(error)")
        }
    }

    private func other(_ kind: String, _ root: JSONValue) -> ImportLine.Content {
        switch kind {
        case "schema": return .schema(root["text"]?.string ?? "")
        case "zone":
            guard let owner = root["zoneID"]?["ownerRecordName"]?.string else {
                return .mistake("a zone without an owner")
            }
            return .zone(owner: owner, email: root["emailAddress"]?.string)
        case "share":
            guard let json = root["record"], case .record(let record) = self.record(json)
            else { return .mistake("a share without a record") }
            return .share(root: root["rootRecordName"]?.string, record)
        case "export", "mark", "end", "gone": return .zone(owner: "", email: nil)
        default: return .mistake("the kind '\(Fault.shown(kind))' is none that is known")
        }
    }

    private func record(_ root: JSONValue) -> ImportLine.Content {
        guard root["serverErrorCode"] == nil, root["deleted"]?.bool != true else {
            let said = ["recordName", "serverErrorCode", "reason"]
                .compactMap { root.member($0)?.string }.map { Fault.shown($0) }
            return .mistake(
                "no record, but what was said of one: \(said.joined(separator: ": "))")
        }
        let text = root["zoneID"]?["zoneName"]?.string ?? ZoneName.defaultZone.text
        guard let zone = ZoneName(text) else {
            return .mistake("'\(Fault.shown(text))' is no zone's name")
        }
        return .record(
            ImportedRecord(
                json: root, name: root["recordName"]?.string, zone: zone,
                owner: root["zoneID"]?["ownerRecordName"]?.string))
    }
}
