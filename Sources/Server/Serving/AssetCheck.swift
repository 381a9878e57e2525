import AssetStorage
import CloudModel
import SQLiteStorage

/// Holds a store's rows of assets and the files against each other, and reads every file.
struct AssetCheck {
    /// Each kind of problem is told so often; the rest is counted.
    private static let toldMax = 20
    private static let pageFiles = 1_000

    let storePath: String
    let storage: any AssetStorage
    /// Files that no row stands for are a problem when they are older: the collection should have come.
    let strayBefore: Milliseconds

    /// What is wrong, a line each.
    ///
    /// - Throws: what the database and the system report.
    func problems() throws -> [String] {
        var missing: [String] = []
        var damaged: [String] = []
        var known: Set<AssetDigest> = []
        let rows = StoredAssets(path: storePath)
        var last: AssetDigest?
        while true {
            let page = try rows.page(after: last, limit: Self.pageFiles)
            for entry in page {
                known.insert(entry.content.digest)
                switch try state(of: entry.content) {
                case .whole: break
                case .missing where !entry.isNeeded: break
                case .missing: missing.append(entry.content.digest.hexadecimal)
                case .damaged: damaged.append(entry.content.digest.hexadecimal)
                }
            }
            guard page.count == Self.pageFiles else { break }
            last = page.last?.content.digest
        }
        return told("missing asset", missing) + told("damaged asset", damaged)
            + told("asset that nothing refers to", try stray(known))
    }

    private enum State { case whole, missing, damaged }

    private func state(of content: AssetContent) throws -> State {
        do {
            guard let reader = try storage.open(content.digest) else { return .missing }
            return try reader.readAll() == content ? .whole : .damaged
        } catch AssetFailure.damaged {
            return .damaged
        }
    }

    private func stray(_ known: Set<AssetDigest>) throws -> [String] {
        var found: [String] = []
        var last: AssetDigest?
        while true {
            let page = try storage.list(after: last, limit: Self.pageFiles)
            for file in page where !known.contains(file.digest) && file.placed < strayBefore {
                found.append(file.digest.hexadecimal)
            }
            guard page.count == Self.pageFiles else { return found }
            last = page.last?.digest
        }
    }

    private func told(_ what: String, _ found: [String]) -> [String] {
        let rest = found.count - Self.toldMax
        return found.prefix(Self.toldMax).map { "\(what): \($0)" }
            + (rest > 0 ? ["\(what): \(rest) more"] : [])
    }
}
