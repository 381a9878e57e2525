import Foundation

/// One run of fetching: which zones have changed, then the records of each.
struct SyncFetch {
    private let engine: CKSyncEngine
    private let context: CKSyncEngine.FetchChangesContext

    init(_ engine: CKSyncEngine, _ context: CKSyncEngine.FetchChangesContext) {
        self.engine = engine
        self.context = context
    }

    /// - Throws: `CKError`.
    func run() async throws {
        do {
            guard try await SyncAccount(engine: engine).check() else { return }
            if context.reason == .scheduled { await subscribe() }
            await engine.deliver(.willFetchChanges(.init(context: context)))
            let outcome = await outcome()
            await engine.deliver(.didFetchChanges(.init(context: context)))
            try outcome.get()
        } catch {
            throw CKError(error)
        }
    }

    /// Makes sure, once for each account, that the server tells of changes.
    private func subscribe() async {
        // A public database tells of queries alone.
        guard engine.database.databaseScope != .public,
            engine.memory.read(\.subscription) == nil,
            // NB: Without one the engine fetches by its timer, and tries again the next time.
            let id = try? await engine.server.subscribe(as: engine.subscriptionID)
        else { return }
        engine.memory.settle { $0.subscription = id }
        await engine.tellState()
    }

    private func outcome() async -> Result<Void, any Error> {
        do {
            try await fetchZones()
            try await fetchRecords()
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    // MARK: - Zones

    private func fetchZones() async throws {
        /// The zones that are there, once everything is fetched anew.
        var found: Set<CKRecordZone.ID>?
        while true {
            try Task.checkCancellation()
            var page: SyncDatabasePage
            do {
                page = try await engine.server.databasePage(
                    since: engine.memory.read(\.databaseToken))
            } catch let error as CKError where error.code == .changeTokenExpired && found == nil {
                found = []
                engine.memory.settle { $0.databaseToken = nil }
                continue
            }
            found?.formUnion(page.modifications.map(\.zoneID))
            // From its beginning a feed no longer tells which zones have gone.
            if let found, !page.moreComing { page.deletions += deletions(besides: found) }
            await take(page)
            if !page.moreComing { return }
        }
    }

    /// Zones that were once fetched, and are not there any more.
    private func deletions(
        besides found: Set<CKRecordZone.ID>
    ) -> [CKDatabase.DatabaseChange.Deletion] {
        engine.memory.read(\.zoneTokens).keys.filter { !found.contains($0) }
            .sorted { $0.zoneName < $1.zoneName }
            .map { CKDatabase.DatabaseChange.Deletion(zoneID: $0, reason: .deleted) }
    }

    private func take(_ page: SyncDatabasePage) async {
        let isEmpty = page.modifications.isEmpty && page.deletions.isEmpty
        if !isEmpty {
            await engine.deliver(
                .fetchedDatabaseChanges(
                    .init(modifications: page.modifications, deletions: page.deletions)))
        }
        // Only now: a state that was kept before must lead to this page again.
        let isNew = engine.memory.settle { contents in
            let isNew = contents.databaseToken != page.token || !isEmpty
            contents.databaseToken = page.token
            for zone in page.modifications where !contents.unfetched.contains(zone.zoneID) {
                contents.unfetched.append(zone.zoneID)
            }
            for zone in page.deletions { contents.forget(zone.zoneID) }
            return isNew
        }
        if isNew { await engine.tellState() }
    }

    // MARK: - Records

    private func fetchRecords() async throws {
        var done: Set<CKRecordZone.ID> = []
        while let zone = await nextZone(besides: done) {
            done.insert(zone)
            await engine.deliver(.willFetchRecordZoneChanges(.init(zoneID: zone)))
            let failure = await fetch(zone)
            await engine.deliver(
                .didFetchRecordZoneChanges(.init(zoneID: zone, error: failure)))
            if let failure, failure.endsFetching { throw failure }
        }
    }

    /// The delegate is asked between zones, so that what a person looks at can come first.
    private func nextZone(besides done: Set<CKRecordZone.ID>) async -> CKRecordZone.ID? {
        let options = await engine.nextOptions(context)
        let waiting = engine.memory.read(\.unfetched).filter {
            !done.contains($0) && options.scope.contains($0)
        }
        return options.prioritizedZoneIDs.first(where: waiting.contains) ?? waiting.first
    }

    private func fetch(_ zone: CKRecordZone.ID) async -> CKError? {
        var hasStartedAnew = false
        while true {
            do {
                try Task.checkCancellation()
                let page = try await engine.server.recordPage(
                    of: zone, since: engine.memory.read { $0.zoneTokens[zone] })
                await take(page, of: zone)
                if !page.moreComing { return nil }
            } catch {
                let error = CKError(error)
                if error.code == .changeTokenExpired, !hasStartedAnew {
                    hasStartedAnew = true
                    engine.memory.settle { $0.zoneTokens[zone] = nil }
                    continue
                }
                if error.code == .zoneNotFound || error.code == .userDeletedZone {
                    engine.memory.settle { $0.forget(zone) }
                    await engine.tellState()
                }
                return error
            }
        }
    }

    private func take(_ page: CKDatabase.ZonePage, of zone: CKRecordZone.ID) async {
        if !page.records.isEmpty || !page.deletions.isEmpty {
            await engine.deliver(
                .fetchedRecordZoneChanges(
                    .init(
                        modifications: page.records.map { .init(record: $0) },
                        deletions: page.deletions)))
        }
        engine.memory.settle { contents in
            contents.zoneTokens[zone] = page.token
            if !page.moreComing { contents.unfetched.removeAll { $0 == zone } }
        }
        await engine.tellState()
    }
}

extension EngineMemory.Contents {
    /// Forgets how far a zone was read: it is gone.
    fileprivate mutating func forget(_ zone: CKRecordZone.ID) {
        zoneTokens[zone] = nil
        unfetched.removeAll { $0 == zone }
    }
}

extension CKError {
    /// Whether the other zones would fail the same way.
    fileprivate var endsFetching: Bool {
        switch code {
        case .zoneNotFound, .userDeletedZone, .zoneBusy, .assetNotAvailable: false
        default: true
        }
    }
}
