import CloudModel
import Cryptography
import JSON

/// What one backup consists of.
///
/// It is written last: what has none is no backup.
package struct BackupManifest: Sendable {
    /// Something that is copied as a whole: the catalog, a store with its assets, a file.
    struct Part: Sendable {
        let name: String
        /// By which its owner tells whether it has changed; nil where it must be read to know.
        let mark: [UInt8]?
        /// Where the list of its contents lies.
        let contents: PieceReference
        /// How many bytes it needs of each pack.
        let packs: [String: Int]
    }

    static let prefix = "backups/"
    private static let format: Int64 = 1

    package let moment: Milliseconds
    /// Of the server that made it.
    package let version: String
    let parts: [Part]

    /// The names of what it holds.
    package var names: [String] { parts.map(\.name) }

    func part(_ name: String) -> Part? { parts.first { $0.name == name } }

    /// How many bytes it needs of each pack.
    var packs: [String: Int] {
        parts.reduce(into: [:]) { $0.merge($1.packs, uniquingKeysWith: +) }
    }

    func encoded() -> [UInt8] {
        var line = JSONLine()
        line.beginObject()
        line.key("format")
        line.number(Self.format)
        line.key("time")
        line.number(moment)
        line.key("version")
        line.text(version)
        line.key("parts")
        line.beginArray()
        for part in parts { Self.append(part, to: &line) }
        line.endArray()
        line.endObject()
        return line.bytes
    }

    private static func append(_ part: Part, to line: inout JSONLine) {
        line.beginObject()
        line.key("name")
        line.text(part.name)
        if let mark = part.mark {
            line.key("mark")
            line.text(Hexadecimal.encode(mark))
        }
        line.key("contents")
        line.text(Hexadecimal.encode(PieceList.encode([part.contents])))
        line.key("packs")
        line.beginObject()
        for (pack, bytes) in part.packs.sorted(by: { $0.key < $1.key }) {
            line.key(pack)
            line.number(Int64(bytes))
        }
        line.endObject()
        line.endObject()
    }

    init(moment: Milliseconds, version: String, parts: [Part]) {
        self.moment = moment
        self.version = version
        self.parts = parts
    }

    /// - Throws: `BackupFailure` for what is no manifest, or one of a later format.
    init(_ bytes: [UInt8]) throws {
        let root: JSONValue
        do { root = try JSONDocument(parsing: bytes).root } catch {
            throw BackupFailure.damaged("its list is no JSON")
        }
        guard let format = root["format"]?.int64, let moment = root["time"]?.int64,
            let version = root["version"]?.string, let parts = root["parts"], parts.kind == .array
        else { throw BackupFailure.damaged("its list lacks something") }
        guard format == Self.format else {
            throw BackupFailure("the backup is of a later version (format \(format))")
        }
        self.moment = moment
        self.version = version
        self.parts = try parts.elements.map(Self.part)
    }

    private static func part(_ value: JSONValue) throws -> Part {
        guard let name = value["name"]?.string,
            let contents = value["contents"]?.string.flatMap(Hexadecimal.decode),
            let packs = value["packs"], packs.kind == .object
        else { throw BackupFailure.damaged("its list lacks something") }
        var reader = ByteReader(contents)
        guard let reference = try PieceList.decode(&reader).first else {
            throw BackupFailure.damaged("its list lacks something")
        }
        var used: [String: Int] = [:]
        for member in packs.members { used[member.key.string ?? ""] = Int(member.value.int64 ?? 0) }
        return Part(
            name: name, mark: value["mark"]?.string.flatMap(Hexadecimal.decode),
            contents: reference, packs: used)
    }
}
