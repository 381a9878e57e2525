import JSON

/// How far an import has come, as it is kept beside the file.
struct ImportProgress {
    /// What the import is about; another one begins anew.
    struct About: Equatable {
        let target: String
        let mode: String
        let size: Int64
    }

    /// A line that waits for what it refers to.
    struct Deferred {
        let offset: Int64
        /// Empty when it must be read again.
        let bytes: [UInt8]
        let length: Int
    }

    private let about: About
    /// All before it is on disk, but for what waits.
    var from: Int64 = 0
    /// What lies before it may be on disk.
    var until: Int64 = 0
    var records = 0
    var types: [String: Int] = [:]
    var shares = 0
    var failed = 0
    var deferred: [Deferred] = []
    /// The addresses of owners that lines before it have told.
    var owners: [String: String] = [:]
    /// Whether shares have begun to be made.
    var makesShares = false
    /// Whether there is a file of it.
    private(set) var isKept = false

    init(_ about: About) { self.about = about }

    mutating func write(to files: any TransferFiles) throws {
        var line = JSONLine()
        line.beginObject()
        line.key("target")
        line.text(about.target)
        line.key("mode")
        line.text(about.mode)
        for (key, number) in [
            ("size", about.size), ("from", from), ("until", until), ("records", Int64(records)),
            ("shares", Int64(shares)), ("failed", Int64(failed)),
        ] as [(String, Int64)] {
            line.key(key)
            line.number(number)
        }
        line.key("types")
        line.beginObject()
        for (type, count) in types {
            line.key(type)
            line.number(Int64(count))
        }
        line.endObject()
        line.key("deferred")
        line.beginArray()
        for one in deferred {
            line.number(one.offset)
            line.number(Int64(one.length))
        }
        line.endArray()
        line.key("owners")
        line.beginObject()
        for (owner, address) in owners {
            line.key(owner)
            line.text(address)
        }
        line.endObject()
        line.key("makesShares")
        line.flag(makesShares)
        line.endObject()
        try files.write(.importProgress, at: 0, line.bytes)
        try files.finish(.importProgress, size: Int64(line.bytes.count))
        isKept = true
    }

    /// What an earlier import of the same file into the same place has kept; nil for none.
    static func read(_ about: About, from files: any TransferFiles) throws -> ImportProgress? {
        guard let size = try files.size(of: .importProgress), size > 0 else { return nil }
        var bytes: [UInt8] = []
        try files.readAll(.importProgress) { bytes += $0 }
        // NB: what is cut short tells nothing; the import begins anew, and says what exists.
        guard let root = try? JSONDocument(parsing: bytes).root,
            root["target"]?.string == about.target, root["mode"]?.string == about.mode,
            root["size"]?.int64 == about.size, let from = root["from"]?.int64,
            let until = root["until"]?.int64, from >= 0, until >= from
        else { return nil }
        var progress = ImportProgress(about)
        (progress.from, progress.until) = (from, until)
        func count(_ key: StaticString) -> Int {
            root[key]?.int64.flatMap { Int(exactly: $0) } ?? 0
        }
        (progress.records, progress.shares) = (count("records"), count("shares"))
        progress.failed = count("failed")
        if let types = root["types"] {
            for (type, count) in types.members {
                progress.types[type.string ?? ""] = count.int64.flatMap { Int(exactly: $0) }
            }
        }
        if let owners = root["owners"] {
            for (owner, address) in owners.members {
                progress.owners[owner.string ?? ""] = address.string
            }
        }
        progress.makesShares = root["makesShares"]?.bool == true
        let numbers = root["deferred"]?.elements.compactMap(\.int64) ?? []
        for at in stride(from: 0, to: numbers.count - 1, by: 2) {
            guard let length = Int(exactly: numbers[at + 1]), length > 0 else { continue }
            progress.deferred.append(Deferred(offset: numbers[at], bytes: [], length: length))
        }
        progress.isKept = true
        return progress
    }
}
