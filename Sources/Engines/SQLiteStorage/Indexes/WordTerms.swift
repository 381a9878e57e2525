import CloudModel
import Storage

/// The terms under which the full-text table finds a record.
enum WordTerms {
    /// What comes before each word of one zone's records in one index.
    static func prefix(_ index: Int64, _ zone: ZoneNumber) -> String { "\(index)x\(zone.value)x" }

    /// The different terms of a text, joined by spaces; empty for a text without words.
    static func of(_ text: [UInt8], _ index: Int64, _ zone: ZoneNumber) -> [UInt8] {
        let prefix = Array(Self.prefix(index, zone).utf8)
        var terms: [UInt8] = []
        text.withUnsafeBytes { text in
            Words.forEach(in: text) { word in
                if !terms.isEmpty { terms.append(UInt8(ascii: " ")) }
                terms.append(contentsOf: prefix)
                terms.append(contentsOf: word)
            }
        }
        return terms
    }
}
