import Administration
import AssetStorage
import Audit
import CloudModel
import Storage

// What is wrong with the data, and what is mended of it.
extension DataFolder {
    /// How long `check` names a loss after the start that has found it: 30 days.
    private static let lossesToldMilliseconds: Milliseconds = 30 * 86_400_000

    /// The catalog; and of each store its database, its files, and their sums.
    package func checkedParts() throws -> Int {
        var count = 0
        do { try stores.forEachKnown { _, _ in count += 1 } } catch let error as any EngineFault
            where error.isDamage
        {
            // NB: `problems` names it.
        }
        return 1 + 3 * count
    }

    /// What is wrong with the data, each in a line that names the file; empty when nothing is.
    package func problems(_ progress: CheckProgress = CheckProgress()) throws -> [String] {
        do {
            return try problemsOfAll(progress)
        } catch let error as any EngineFault where error.isDamage {
            // Problems of stores are reported separately. Without the catalog nobody knows which there are.
            let name = engineWords.catalog
            return ["catalog: \(name) is damaged, and cannot be read: \(error)"]
        }
    }

    private func problemsOfAll(_ progress: CheckProgress) throws -> [String] {
        try progress.begin("the catalog")
        var problems = try engine.problems(of: .catalog, lossesSince: .max).map { "catalog: \($0)" }
        problems += try audit.report().problems
        try stores.forEachKnown { key, isMissing in
            let found =
                try isMissing
                ? ["\(engineWords.store) is not there, or is another's"]
                : self.problems(of: key, progress)
            problems += found.map { "\(key.container.name) \(key.environment.rawValue): \($0)" }
        }
        return problems
    }

    /// What is wrong with one store and its assets.
    private func problems(
        of key: Stores.Key, _ progress: CheckProgress
    ) throws -> [String] {
        do {
            try progress.begin("\(key.shown), records")
            let found = try engine.problems(
                of: .store(key), lossesSince: clock.now() - Self.lossesToldMilliseconds)
            // Rows that cannot be read say nothing of files.
            guard found.isEmpty else { return found }
            try progress.begin("\(key.shown), files")
            return try checkingAssets(of: key) { try $0.problems(progress.advance) }
        } catch let error as any EngineFault where error.isDamage {
            return ["\(engineWords.store) is damaged, and cannot be read: \(error)"]
        } catch let error as any EngineFault where error.finding == .foreign {
            return ["\(engineWords.store): \(error)"]
        }
    }

    /// Looks at a store's assets while none is removed: it would count as missing, or leave its sums behind.
    private func checkingAssets<Value>(
        of key: Stores.Key, _ look: (AssetCheck) throws -> Value
    ) throws -> Value {
        let assetStore = stores.assetStore(of: key)
        let check = AssetCheck(
            rows: { [engine] in try engine.assets(of: key, after: $0, limit: $1) },
            storage: assetStore.storage,
            strayBefore: clock.now() - Milliseconds(configuration.assets.graceSeconds) * 1_000)
        return try assetStore.claims.withoutRemoval { try look(check) }
    }

    /// Makes the checksums of whole assets again where they are missing, torn or wrong.
    package func mendSums(_ progress: CheckProgress = CheckProgress()) throws -> Int {
        try sumOverStores { key in
            try progress.begin("\(key.shown), checksums of files")
            return try checkingAssets(of: key) { try $0.mendSums(progress.advance) }
        }
    }

    /// How many files of assets lie in the trash.
    package func trashedAssets() throws -> Int {
        try sumOverStores { try stores.assetStore(of: $0).storage.trash?.list().count ?? 0 }
    }

    /// Counts something in each store that is there and can be read; `problems` names the others.
    private func sumOverStores(_ count: (Stores.Key) throws -> Int) throws -> Int {
        do {
            var sum = 0
            try stores.forEachKnown { key, isMissing in
                guard !isMissing else { return }
                do { sum += try count(key) } catch is any EngineFault {
                    // NB: `problems` names it.
                }
            }
            return sum
        } catch let error as any EngineFault where error.isDamage {
            // NB: as above; without the catalog nobody knows where to look.
            return 0
        }
    }
}

extension StoreKey {
    fileprivate var shown: String { "\(container.name) \(environment.rawValue)" }
}
