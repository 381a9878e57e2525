import JSON

/// How far the reading of a container of CloudKit has come, as it is kept beside the file.
///
/// It is written to two files in turn, so that one is always whole.
struct CloudKitProgress {
    /// One thing after the other that is read to its end.
    enum Step: Equatable {
        /// The records of a type in the default zone, by queries.
        case type(String)
        /// All of a zone, by its feed.
        case zone(String)

        fileprivate var text: String {
            switch self {
            case .type(let name): "type \(name)"
            case .zone(let name): "zone \(name)"
            }
        }

        fileprivate init?(_ text: String) {
            if text.hasPrefix("type ") {
                self = .type(String(text.dropFirst(5)))
            } else if text.hasPrefix("zone ") {
                self = .zone(String(text.dropFirst(5)))
            } else {
                return nil
            }
        }
    }

    private static let files = [
        TransferFile.beside("cloudkit.progress.1"), .beside("cloudkit.progress.2"),
    ]

    /// What is read, and what of it; another reading has another file.
    private let about: String
    private var sequence: Int64 = 0
    /// The digest of the token that the command was given, and the newest that came of it.
    var givenToken = ""
    var webToken = ""
    var steps: [Step] = []
    /// How many of the steps are done.
    var done = 0
    /// Where in the step the next page begins; empty for its beginning.
    var marker = ""
    /// How much of the file is whole.
    var offset: Int64 = 0
    var assets = 0
    var shares = 0
    var notes: [String] = []
    var isWhole = false

    init(about: String) { self.about = about }

    mutating func write(to files: any TransferFiles) throws {
        sequence += 1
        var line = JSONLine()
        line.beginObject()
        for (key, text) in [
            ("about", about), ("givenToken", givenToken), ("webToken", isWhole ? "" : webToken),
            ("marker", marker),
        ] {
            line.key(key)
            line.text(text)
        }
        for (key, number) in [
            ("sequence", sequence), ("done", Int64(done)), ("offset", offset),
            ("assets", Int64(assets)), ("shares", Int64(shares)), ("whole", isWhole ? 1 : 0),
        ] as [(String, Int64)] {
            line.key(key)
            line.number(number)
        }
        for (key, texts) in [("steps", steps.map(\.text)), ("notes", notes)] {
            line.key(key)
            line.beginArray()
            for text in texts { line.text(text) }
            line.endArray()
        }
        line.endObject()
        // The token of an end leaves no copy in the other file.
        for file in isWhole ? Self.files : [Self.files[Int(sequence % 2)]] {
            try files.write(file, at: 0, line.bytes)
            try files.finish(file, size: Int64(line.bytes.count))
        }
    }

    /// Keeps nothing, as if nothing had begun.
    static func remove(from files: any TransferFiles) throws {
        for file in Self.files where try files.size(of: file) != nil {
            try files.finish(file, size: 0)
        }
    }

    /// What an earlier attempt has kept; nil for none.
    ///
    /// - Throws: `RecordsRefusal` when the file is of another reading.
    static func read(about: String, from files: any TransferFiles) throws -> CloudKitProgress? {
        var newest: CloudKitProgress?
        for file in Self.files {
            guard let size = try files.size(of: file), size > 0 else { continue }
            var bytes: [UInt8] = []
            try files.readAll(file) { bytes += $0 }
            // NB: what is cut short tells nothing, and the other file is whole then.
            guard let root = try? JSONDocument(parsing: bytes).root,
                let read = CloudKitProgress(root)
            else { continue }
            guard read.about == about else {
                throw RecordsRefusal("the file was begun by an import of something else")
            }
            if read.sequence > newest?.sequence ?? 0 { newest = read }
        }
        return newest
    }

    private init?(_ root: JSONValue) {
        guard let about = root["about"]?.string, let sequence = root["sequence"]?.int64,
            let offset = root["offset"]?.int64, offset >= 0,
            let done = root["done"]?.int64.flatMap({ Int(exactly: $0) }), done >= 0
        else { return nil }
        (self.about, self.sequence, self.offset, self.done) = (about, sequence, offset, done)
        givenToken = root["givenToken"]?.string ?? ""
        webToken = root["webToken"]?.string ?? ""
        marker = root["marker"]?.string ?? ""
        steps = root["steps"]?.elements.compactMap { $0.string.flatMap { Step($0) } } ?? []
        notes = root["notes"]?.elements.compactMap(\.string) ?? []
        assets = root["assets"]?.int64.flatMap { Int(exactly: $0) } ?? 0
        shares = root["shares"]?.int64.flatMap { Int(exactly: $0) } ?? 0
        isWhole = root["whole"]?.int64 == 1
        guard done <= steps.count else { return nil }
    }
}
