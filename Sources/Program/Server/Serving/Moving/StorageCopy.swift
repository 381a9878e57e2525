import Accounts
import Administration
import AssetStorage
import CloudModel
import Control
import Storage

/// Copies closed containers of a data folder to another one, and compares what has come.
///
/// Whatever ends it, the next one goes on: rows and files that lie there by then are not brought again. The catalog
/// there learns of the containers last, in one transaction.
final class StorageCopy {
    private static let assetsPerPage = 1_000

    private let source: DataFolder
    private let target: CopyTarget
    private let progress: CheckProgress
    private(set) var report = CopyReport()

    init(from source: DataFolder, to target: CopyTarget, _ progress: CheckProgress) {
        self.source = source
        self.target = target
        self.progress = progress
    }

    /// - Parameters:
    ///   - containers: are out of use.
    ///   - isAll: whether they are all that the source has, so that the rest of its catalog comes along.
    func run(_ containers: [ContainerID], isAll: Bool) throws {
        let stores = try containers.map { ($0, try source.engine.stores(of: $0)) }
        let count = stores.reduce(0) { $0 + $1.1.count }
        progress.expect(parts: 3 * count + 1)
        var isNew = false
        for (container, keys) in stores {
            report.containers.append(container)
            if try wasCopied(container, keys) { continue }
            isNew = true
            try UserRecordNames.adopt(
                container, of: source.catalog, in: target.engine.catalog, random: source.random)
            for key in keys {
                try copyRows(of: key)
                try copyAssets(of: key)
            }
        }
        try progress.begin("the catalog")
        guard isNew || isAll else { return }
        if isAll {
            try copyCatalog(of: nil)
        } else {
            for container in containers { try copyCatalog(of: container) }
        }
    }

    /// Whether an earlier call has done it, but could not say so.
    ///
    /// - Throws: `CopyRefusal` for another container of that name.
    private func wasCopied(_ container: ContainerID, _ keys: [StoreKey]) throws -> Bool {
        guard let known = try target.engine.catalog.container(container) else { return false }
        let there = try target.engine.stores(of: container)
        // One that is out of use there as well may be this very one, by another address.
        guard !known.isElsewhere, there == keys, try keys.allSatisfy(isContinued) else {
            throw CopyRefusal(
                "\(target.configuration.dataAddress) has a container \(container.name) already, another one: "
                    + "delete it there first")
        }
        return true
    }

    /// Whether a store there has all that the one here has given out.
    private func isContinued(_ key: StoreKey) throws -> Bool {
        let here = try source.engine.readRows(of: .store(key)) { try $0.next(nil).first }
        let store = try target.engine.open(key, notices: CommitNotices())
        defer { _ = target.engine.close(key, isUnused: true) }
        guard let here, case .integer(let life) = here.values[0],
            case .integer(let last) = here.values[1]
        else { return false }
        return try store.identity.knows(life, through: last)
    }

    private func copyCatalog(of container: ContainerID?) throws {
        try source.engine.readRows(of: .catalog(of: container)) { from in
            try target.engine.takeRows(of: .catalog(of: container)) { taken in
                var last: CopiedRow?
                while case let rows = try from.next(last), !rows.isEmpty {
                    try taken.append(rows)
                    last = rows.last
                }
            }
        }
    }

    // MARK: Stores

    private func copyRows(of key: StoreKey) throws {
        let name = "\(key.container.name) \(key.environment.rawValue)"
        try progress.begin("\(name), records")
        report.rows += try source.engine.readRows(of: .store(key)) { from in
            try target.engine.takeRows(of: .store(key)) { taken in
                var last = try taken.last()
                if last != nil, try taken.rows.next(nil).first != from.next(nil).first {
                    // Of an earlier copy, after which the store here has gone on.
                    try taken.clear()
                    last = nil
                }
                var done: Int64 = 0
                while case let rows = try from.next(last), !rows.isEmpty {
                    try taken.append(rows)
                    last = rows.last
                    done += Int64(rows.count)
                    try progress.advance(Int(min(done, from.estimate)), of: Int(from.estimate))
                }
                try progress.begin("\(name), comparing")
                return try compare(from, taken, name)
            }
        }
    }

    /// Goes through what is here and what lies there.
    ///
    /// - Returns: how many rows there are.
    /// - Throws: `CommandFailure` where they differ; the next call begins with that store anew.
    private func compare(_ from: CopiedRows, _ taken: TakenRows, _ name: String) throws -> Int {
        var (count, last) = (0, CopiedRow?.none)
        while true {
            let (here, there) = (try from.next(last), try taken.rows.next(last))
            let shared = min(here.count, there.count)
            guard here.prefix(shared) == there.prefix(shared), (shared == 0) == here.isEmpty,
                (shared == 0) == there.isEmpty
            else {
                let row = zip(here, there).first { $0 != $1 }?.0 ?? here.first ?? there.first
                try taken.clear()
                throw CommandFailure(
                    "\(name): what has come differs (\(row.map { from.kinds[$0.kind] } ?? "")); run this "
                        + "again")
            }
            if shared == 0 { return count }
            count += shared
            last = here[shared - 1]
            try progress.advance(Int(min(Int64(count), from.estimate)), of: Int(from.estimate))
        }
    }

    private func copyAssets(of key: StoreKey) throws {
        try progress.begin("\(key.container.name) \(key.environment.rawValue), files")
        let (here, there) = (source.assetLocations, target.storage(of: key))
        let copying = AssetCopying(key, from: here.storage(of: key, in: source.path), to: there)
        var last: AssetDigest?
        while true {
            let page = try source.engine.assets(of: key, after: last, limit: Self.assetsPerPage)
            for row in page {
                try progress.advance(0, of: 1)
                report.assets += 1
                // A file in place is whole.
                if try there.open(row.content.digest)?.byteCount == row.content.size { continue }
                try copying.copy(row)
            }
            last = page.last?.content.digest
            guard page.count == Self.assetsPerPage else { break }
        }
        report.problems += copying.problems
    }
}
