import Foundation

/// One run of sending: zones first, then batches of records, until nothing is left or something is refused.
struct SyncSend {
    private let engine: CKSyncEngine
    private let context: CKSyncEngine.SendChangesContext

    private typealias Sent = CKSyncEngine.Event.SentRecordZoneChanges
    private typealias SentZones = CKSyncEngine.Event.SentDatabaseChanges

    init(_ engine: CKSyncEngine, _ context: CKSyncEngine.SendChangesContext) {
        self.engine = engine
        self.context = context
    }

    /// - Throws: `CKError`, `partialFailure` when the server refused some of it.
    func run() async throws {
        do {
            guard try await SyncAccount(engine: engine).check() else {
                throw CKError(.notAuthenticated, "nobody is signed in")
            }
            await engine.deliver(.willSendChanges(.init(context: context)))
            let outcome = await outcome()
            await engine.deliver(.didSendChanges(.init(context: context)))
            try outcome.get()
        } catch {
            throw CKError(error)
        }
    }

    private func outcome() async -> Result<Void, any Error> {
        let held = engine.memory.settle { contents in
            // Who asks by hand may know that the device has its key now.
            if context.reason == .manual { contents.locked = [] }
            return contents.holdLocked()
        }
        var locked: [CKRecord.ID: CKError] = [:]
        defer {
            let changes = held + locked.keys.map { .saveRecord($0) }
            land(changes, keeping: changes)
        }
        do {
            while true {
                try await sendZones()
                try Task.checkCancellation()
                let batch = await engine.nextBatch(context)
                // An app that hands over again what waits for the key has nothing else.
                guard let batch, batch.count > 0,
                    !batch.recordsToSave.contains(where: { locked[$0.recordID] != nil })
                else { break }
                locked.merge(try await send(batch)) { $1 }
            }
            try Self.refuse(locked.map { (AnyHashable($0), $1) })
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    // MARK: - Zones

    private func sendZones() async throws {
        while true {
            try Task.checkCancellation()
            let scope = context.options.scope
            let changes = engine.memory.settle { contents in
                let chosen = Array(
                    contents.database.changes.filter { scope.contains($0) }
                        .prefix(CKDatabase.recordsPerRequestMax))
                contents.database.remove(chosen)
                contents.databaseInFlight += chosen
                return chosen
            }
            if changes.isEmpty { return }
            try await send(changes)
        }
    }

    private func send(_ changes: [CKSyncEngine.PendingDatabaseChange]) async throws {
        var zones: [CKRecordZone] = []
        var ids: [CKRecordZone.ID] = []
        for change in changes {
            switch change {
            case .saveZone(let zone): zones.append(zone)
            case .deleteZone(let id): ids.append(id)
            }
        }
        let done:
            (
                saved: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
                deleted: [CKRecordZone.ID: Result<Void, any Error>]
            )
        do {
            done = try await engine.server.change(saving: zones, deleting: ids)
        } catch {
            guard let refusal = CKError(error).asRefusal else {
                land(changes, keeping: changes)
                await engine.tellState()
                throw error
            }
            done = (
                Dictionary(zones.map { ($0.zoneID, .failure(refusal)) }) { $1 },
                Dictionary(ids.map { ($0, .failure(refusal)) }) { $1 }
            )
        }
        let saves = SendOutcome(zones.map { ($0, done.saved[$0.zoneID].flatMap(\.failure)) })
        let deletions = SendOutcome(ids.map { ($0, done.deleted[$0].flatMap(\.failure)) })
        await engine.deliver(
            .sentDatabaseChanges(
                SentZones(
                    savedZones: saves.done,
                    failedZoneSaves: saves.failed.map { .init(zone: $0.0, error: $0.1) },
                    deletedZoneIDs: deletions.done,
                    failedZoneDeletes: Dictionary(deletions.failed) { $1 })))
        land(
            changes,
            keeping: saves.unfinished.map { .saveZone($0) }
                + deletions.unfinished.map { .deleteZone($0) })
        await engine.tellState()
        try Self.refuse(
            saves.failed.map { (AnyHashable($0.0.zoneID), $0.1) }
                + deletions.failed.map { (AnyHashable($0.0), $0.1) })
    }

    /// Takes changes out of flight; what is kept waits again.
    private func land(
        _ changes: [CKSyncEngine.PendingDatabaseChange],
        keeping kept: [CKSyncEngine.PendingDatabaseChange]
    ) {
        engine.memory.settle { contents in
            // What the app has taken back meanwhile is no longer in flight.
            let wanted = Set(contents.databaseInFlight)
            contents.databaseInFlight.removeAll { changes.contains($0) }
            contents.database.putBack(kept.filter(wanted.contains))
        }
    }

    // MARK: - Records

    /// - Returns: the records that wait for this device's key, which stay in flight: the others go on without them.
    private func send(
        _ batch: CKSyncEngine.RecordZoneChangeBatch
    ) async throws -> [CKRecord.ID: CKError] {
        let changes = batch.changes
        let writeID = engine.memory.settle { contents in
            contents.records.remove(changes)
            contents.recordsInFlight += changes
            return contents.writeID
        }
        let done:
            (
                saved: [CKRecord.ID: Result<CKRecord, any Error>],
                deleted: [CKRecord.ID: Result<Void, any Error>]
            )
        do {
            done = try await engine.server.change(batch, as: writeID)
        } catch {
            guard let refusal = CKError(error).asRefusal else {
                land(changes, keeping: changes)
                await engine.tellState()
                throw error
            }
            done = (
                Dictionary(batch.recordsToSave.map { ($0.recordID, .failure(refusal)) }) { $1 },
                Dictionary(batch.recordIDsToDelete.map { ($0, .failure(refusal)) }) { $1 }
            )
        }
        let saves = SendOutcome(
            batch.recordsToSave.map { ($0, done.saved[$0.recordID].flatMap(\.failure)) })
        let deletions = SendOutcome(
            batch.recordIDsToDelete.map { ($0, done.deleted[$0].flatMap(\.failure)) })
        // What the server has taken is not asked for again, whatever happens to the app meanwhile; the state
        // that says so is told after the event.
        await engine.deliver(
            .sentRecordZoneChanges(
                Sent(
                    savedRecords: saves.done,
                    failedRecordSaves: saves.failed.map { .init(record: $0.0, error: $0.1) },
                    deletedRecordIDs: deletions.done,
                    failedRecordDeletes: Dictionary(deletions.failed) { $1 })))
        let failures =
            saves.failed.map { (AnyHashable($0.0.recordID), $0.1) }
            + deletions.failed.map { (AnyHashable($0.0), $0.1) }
        let isLockedAlone = failures.allSatisfy { $0.1.code == .accountTemporarilyUnavailable }
        let locked = isLockedAlone ? saves.failed.map { ($0.0.recordID, $0.1) } : []
        let waiting = Set(locked.map { CKSyncEngine.PendingRecordZoneChange.saveRecord($0.0) })
        land(
            changes.filter { !waiting.contains($0) },
            keeping: saves.unfinished.map { .saveRecord($0.recordID) }
                + deletions.unfinished.map { .deleteRecord($0) })
        engine.memory.settle { contents in
            contents.locked.formUnion(locked.map(\.0))
            if !failures.contains(where: { $0.1.isUncertain }) {
                contents.writeID = RecordBatch.Manner.freshWriteID()
            }
        }
        await engine.tellState()
        if !isLockedAlone { try Self.refuse(failures) }
        return Dictionary(locked) { $1 }
    }

    private func land(
        _ changes: [CKSyncEngine.PendingRecordZoneChange],
        keeping kept: [CKSyncEngine.PendingRecordZoneChange]
    ) {
        engine.memory.settle { contents in
            let wanted = Set(contents.recordsInFlight).intersection(changes)
            contents.recordsInFlight.removeAll { changes.contains($0) }
            contents.records.putBack(kept.filter(wanted.contains))
        }
    }

    /// Ends the run when anything was refused: what the app makes of it is sent by the next one.
    private static func refuse(_ failures: [(AnyHashable, CKError)]) throws {
        guard !failures.isEmpty else { return }
        throw CKError(
            .partialFailure, "\(failures.count) of the changes were refused",
            userInfo: [
                CKPartialErrorsByItemIDKey: Dictionary(failures) { $1 } as [AnyHashable: any Error]
            ])
    }
}

/// How the items of one request ended.
private struct SendOutcome<Item> {
    private(set) var done: [Item] = []
    private(set) var failed: [(Item, CKError)] = []

    init(_ items: [(Item, (any Error)?)]) {
        for (item, error) in items {
            if let error { failed.append((item, CKError(error))) } else { done.append(item) }
        }
    }

    /// What waits again without the app's doing.
    var unfinished: [Item] { failed.filter { $0.1.leavesWaiting }.map(\.0) }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension CKError {
    /// Whether what failed with this waits again: the server has not refused it.
    fileprivate var leavesWaiting: Bool {
        isRetried || code == .operationCancelled || code == .accountTemporarilyUnavailable
    }

    /// Whether what failed with this may have been done.
    fileprivate var isUncertain: Bool {
        code == .serverResponseLost || code == .operationCancelled
    }

    /// What to tell of each change of a request that failed as a whole; nil where the changes wait again.
    ///
    /// A request that no repetition would mend must not keep all others from being sent. An answer that is not of the
    /// protocol, or an address that is not a server's, says nothing about the changes.
    fileprivate var asRefusal: CKError? {
        leavesWaiting || code == .internalError || code == .badContainer ? nil : self
    }

    /// Whether the engine tries again by itself what failed with this.
    ///
    /// What lacks this device's key is not: it waits until the device is unlocked, which `CKAccountChanged` tells.
    var isRetried: Bool {
        switch code {
        case .notAuthenticated, .networkFailure, .networkUnavailable, .requestRateLimited,
            .serverResponseLost, .serviceUnavailable, .zoneBusy:
            true
        default: false
        }
    }
}
