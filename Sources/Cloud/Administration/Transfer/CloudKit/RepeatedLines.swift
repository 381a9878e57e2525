import Cryptography
import JSON

/// The lines of a file that a later line of the same record has made out of date, and how many are left of each type.
///
/// What changes while it is read comes twice, and what is deleted then is said to be gone.
struct RepeatedLines {
    private struct Key: Hashable {
        let high: UInt64
        let low: UInt64

        init(_ zone: String, _ name: String) {
            let digest = SHA256.digest(Array("\(zone)\n\(name)".utf8))
            high = digest[..<8].reduce(0) { $0 << 8 | UInt64($1) }
            low = digest[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// Where the lines begin that are out of date.
    private(set) var outdated: Set<Int64> = []
    private(set) var counts: [String: Int] = [:]
    private var last: [Key: (offset: Int64, type: String)] = [:]

    init(in files: any TransferFiles) throws {
        var rest: [UInt8] = []
        var offset: Int64 = 0
        try files.readAll(.main) { piece in
            rest += piece
            var start = 0
            while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                take(Array(rest[start..<end]), at: offset)
                offset += Int64(end + 1 - start)
                start = end + 1
            }
            rest.removeFirst(start)
        }
        last = [:]
    }

    private mutating func take(_ line: [UInt8], at offset: Int64) {
        // NB: the import says of a line that is no JSON that it is none.
        guard let root = try? JSONDocument(parsing: line).root,
            let name = root["recordName"]?.string, root["serverErrorCode"] == nil
        else { return }
        let key = Key(root["zoneID"]?["zoneName"]?.string ?? "", name)
        if let earlier = last.removeValue(forKey: key) {
            outdated.insert(earlier.offset)
            counts[earlier.type, default: 1] -= 1
        }
        guard root["kind"] == nil else { return }
        let type = root["recordType"]?.string ?? ""
        last[key] = (offset, type)
        counts[type, default: 0] += 1
    }
}
