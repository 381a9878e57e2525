/// One step of a schema's history: run once, never edited after a release.
package struct Migration: Sendable {
    package let name: String
    package let sql: String
    /// FNV-1a of the text, 64 bits: tells an edited file, not an attack.
    package let checksum: Int64

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
        let hash = sql.utf8.reduce(into: UInt64(0xcbf2_9ce4_8422_2325)) { hash, byte in
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        checksum = Int64(bitPattern: hash)
    }

    /// The oldest migration that a process must know to work with what this one makes, by the name behind `-- works with: `
    /// in the first line; nil for itself, so that processes of older versions end before.
    ///
    /// One that only adds names an older one. One that takes away names the one that added what is used since.
    package var worksWith: String? {
        let begin = "-- works with: "
        guard let line = sql.split(separator: "\n", maxSplits: 1).first, line.hasPrefix(begin)
        else { return nil }
        return String(line.dropFirst(begin.count))
    }
}
