import Cryptography
import JSON

/// One line of the log: an object of JSON that ends with a digest over all that is before it.
///
/// Each line has the digest of the line before it, so that a line which was removed, moved or changed
/// breaks the chain at its place:
///
///     {"previous":"…","time":1700000000000,"who":"…","what":"…","hash":"…"}
struct AuditLine {
    /// With its line end, and every character escaped.
    static let bytesMax = 32_768
    /// What the first line has in place of a digest.
    static let beginning = String(repeating: "0", count: 2 * SHA256.digestBytes)

    private static let hashStart = Array(",\"hash\":\"".utf8)
    private static let end = Array("\"}".utf8)

    let entry: AuditEntry
    let previous: String
    let hash: String

    /// The bytes of the line that follows on the line of that digest, with its line end.
    static func make(_ entry: AuditEntry, after previous: String) -> (bytes: [UInt8], hash: String)
    {
        var writer = JSONWriter(reserving: 512)
        writer.raw("{\"previous\":")
        writer.string(previous)
        writer.member("time", entry.time)
        writer.member("who", entry.who)
        writer.member("what", entry.what)
        if let account = entry.account {
            writer.member("account", account)
        }
        if let detail = entry.detail {
            writer.member("detail", detail)
        }
        let hash = Hexadecimal.encode(SHA256.digest(writer.bytes))
        return (writer.bytes + hashStart + Array(hash.utf8) + end + [0x0A], hash)
    }

    /// Reads a line without its line end; nil when it is not a line of the log, or when its digest
    /// is wrong.
    init?(_ bytes: [UInt8]) {
        guard let hash = Self.digest(of: bytes) else { return nil }
        let root: JSONValue
        do throws(JSONError) { root = try JSONDocument(parsing: bytes).root } catch { return nil }
        guard let previous = root["previous"]?.string, let time = root["time"]?.int64,
            let who = root["who"]?.string, let what = root["what"]?.string
        else { return nil }
        self.previous = previous
        self.hash = hash
        entry = AuditEntry(
            time: time, who: who, what: what, account: root["account"]?.string,
            detail: root["detail"]?.string)
    }

    /// What a line without its line end says of the chain, read where each line has it: in a fraction of the time.
    ///
    /// Nil for what has not this form, or has a digest that is wrong.
    static func links(of bytes: [UInt8]) -> (previous: String, hash: String)? {
        let start = previousStart.count
        guard let hash = digest(of: bytes), bytes.starts(with: previousStart),
            bytes.count > start + 2 * SHA256.digestBytes
        else { return nil }
        let previous = bytes[start..<start + 2 * SHA256.digestBytes]
        guard !previous.contains(UInt8(ascii: "\"")) else { return nil }
        return (String(decoding: previous, as: UTF8.self), hash)
    }

    /// The digest that the line behind one names: of bytes that are no line of the log, their own; of none, what the
    /// first line has.
    static func digest(ofAny bytes: [UInt8]?) -> String {
        guard let bytes else { return beginning }
        return AuditLine(bytes)?.hash ?? Hexadecimal.encode(SHA256.digest(bytes))
    }

    private static let previousStart = Array("{\"previous\":\"".utf8)

    /// The digest that a line ends with; nil where that is wrong.
    private static func digest(of bytes: [UInt8]) -> String? {
        let tail = hashStart.count + 2 * SHA256.digestBytes + end.count
        guard bytes.count > tail, bytes.count < bytesMax else { return nil }
        let digested = bytes.count - tail
        let hash = bytes.withUnsafeBytes {
            Hexadecimal.encode(SHA256.digest(UnsafeRawBufferPointer(rebasing: $0[..<digested])))
        }
        let (named, last) = (digested + hashStart.count, bytes.count - end.count)
        guard bytes[digested..<named].elementsEqual(hashStart),
            bytes[named..<last].elementsEqual(hash.utf8), bytes[last...].elementsEqual(end)
        else { return nil }
        return hash
    }
}
