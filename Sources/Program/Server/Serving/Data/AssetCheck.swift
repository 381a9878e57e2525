import AssetStorage
import CloudModel
import Storage

/// Holds a store's rows of assets and the files against each other, and reads every file.
struct AssetCheck {
    /// Each kind of problem is told so often; the rest is counted.
    private static let toldMax = 20
    private static let pageFiles = 1_000

    /// Hears how many of its files are dealt with, and of how many.
    typealias Progress = (_ done: Int, _ whole: Int) throws -> Void

    /// A page of the files that the store refers to, as `PartImage.assets`.
    let rows: (_ after: AssetDigest?, _ limit: Int) throws -> [ReferencedAsset]
    let storage: any AssetBlobStore
    /// Files without a row are a problem when they are older: they should have been removed.
    let strayBefore: Milliseconds

    /// What is wrong, a line each.
    ///
    /// - Throws: what the database and the system report, and what `advance` throws.
    func problems(_ advance: Progress = { _, _ in }) throws -> [String] {
        guard storage.isLocal else { return try listedProblems() }
        let whole = try count()
        var missing: [String] = []
        var damaged: [String] = []
        var known: Set<AssetDigest> = []
        var last: AssetDigest?
        while true {
            let page = try rows(last, Self.pageFiles)
            for entry in page {
                try advance(known.count, whole)
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

    /// Makes the sums of whole files again where they are missing, torn or wrong; reads every file.
    ///
    /// - Returns: how many were made again.
    /// - Throws: what the database reports, and what `advance` throws.
    func mendSums(_ advance: Progress = { _, _ in }) throws -> Int {
        guard storage.isLocal else { return 0 }
        let whole = try self.count()
        var (count, done) = (0, 0)
        var last: AssetDigest?
        while true {
            let page = try rows(last, Self.pageFiles)
            for entry in page {
                try advance(done, whole)
                done += 1
                do throws(AssetFailure) {
                    let isMended = try storage.mendSums(entry.content.digest, comparing: true)
                    if isMended { count += 1 }
                } catch {
                    // NB: `problems` tells of a file that cannot be read or is not what it should be; sums
                    // without room are made when the file is read.
                }
            }
            guard page.count == Self.pageFiles else { return count }
            last = page.last?.content.digest
        }
    }

    private func count() throws -> Int {
        var count = 0
        var last: AssetDigest?
        while true {
            let page = try rows(last, Self.pageFiles)
            count += page.count
            guard page.count == Self.pageFiles else { return count }
            last = page.last?.content.digest
        }
    }

    /// As `problems`, but it compares only the list of files and lengths that the storage gives.
    ///
    /// It reads no file.
    ///
    /// This is for files that are not on this machine. To read all of them would take hours and
    /// cost money, and such stores check their bytes themselves.
    func listedProblems() throws -> [String] {
        var listed: [AssetDigest: AssetListing] = [:]
        try visitListings { listed[$0.digest] = $0 }
        var missing: [String] = []
        var damaged: [String] = []
        var last: AssetDigest?
        while true {
            let page = try rows(last, Self.pageFiles)
            for entry in page {
                let digest = entry.content.digest
                let found = listed.removeValue(forKey: digest)
                if let count = found?.byteCount, count == entry.content.size { continue }
                // What came or changed since the listing is looked at once more.
                guard let count = try byteCount(of: digest) else {
                    if entry.isNeeded { missing.append(digest.hexadecimal) }
                    continue
                }
                if count != entry.content.size { damaged.append(digest.hexadecimal) }
            }
            guard page.count == Self.pageFiles else { break }
            last = page.last?.content.digest
        }
        let stray = try listed.values.filter { $0.placed < strayBefore }.map(\.digest).sorted()
            .filter { try byteCount(of: $0) != nil }
        return told("missing asset", missing) + told("damaged asset", damaged)
            + told("asset that nothing refers to", stray.map(\.hexadecimal))
    }

    /// How long a file is: nil where there is none, -1 for one that cannot be opened for what it is.
    private func byteCount(of digest: AssetDigest) throws -> Int? {
        do { return try storage.open(digest)?.byteCount } catch AssetFailure.damaged { return -1 }
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
        try visitListings { file in
            if !known.contains(file.digest), file.placed < strayBefore {
                found.append(file.digest.hexadecimal)
            }
        }
        return found
    }

    private func visitListings(_ visit: (AssetListing) -> Void) throws {
        var last: AssetDigest?
        while true {
            let page = try storage.list(after: last, limit: Self.pageFiles)
            for file in page { visit(file) }
            guard page.count == Self.pageFiles else { return }
            last = page.last?.digest
        }
    }

    private func told(_ what: String, _ found: [String]) -> [String] {
        let rest = found.count - Self.toldMax
        return found.prefix(Self.toldMax).map { "\(what): \($0)" }
            + (rest > 0 ? ["\(what): \(rest) more"] : [])
    }
}
