/// Holds what clients saw of one life of the server against what the server promised them.
///
/// Linear in the history: tags are numbers in the order of the commits, each value names the one
/// write that made it, so nothing has to be searched for.
struct LifeCheck {
    struct Key: Hashable {
        let location: UserZone
        let name: String
    }

    let life: Life
    private(set) var ledger: Ledger
    private(set) var violations: [Violation] = []
    private var reported: Set<String> = []
    private var timelines: [Key: Timeline] = [:]
    private let highestBefore: Int64

    init(_ life: Life, _ ledger: Ledger) {
        self.life = life
        self.ledger = ledger
        highestBefore = ledger.highest
    }

    /// Everything that is wrong; empty for a server that keeps its promises.
    mutating func run() -> [Violation] {
        for oddity in life.oddities { report(.oddAnswer, oddity) }
        learnAttempts()
        learnVersions()
        makeTimelines()
        for (key, timeline) in timelines {
            for (kind, text) in timeline.conflicts() {
                report(kind, "\(key.name) of \(key.location): \(text)")
            }
        }
        checkOrder()
        checkRefusals()
        for sighting in life.sightings { check(sighting) }
        checkPages()
        for snapshot in life.snapshots + finalSnapshots { check(snapshot) }
        checkFinal()
        checkZones()
        checkReplicas()
        checkZoneReplicas()
        return violations
    }

    /// Notes what is wrong, once however many have seen it.
    mutating func report(_ kind: Violation.Kind, _ text: String) {
        guard reported.insert(text).inserted else { return }
        violations.append(Violation(kind: kind, life: life.number, text: text))
    }

    private var finalSnapshots: [Snapshot] {
        life.final.map {
            Snapshot(location: $0.key, records: $0.value.records, span: .always, by: "the restart")
        }
    }

    // MARK: - What is known

    private mutating func learnAttempts() {
        for write in life.writes {
            for operation in write.operations where !operation.deletes {
                ledger.attempted(
                    operation.value,
                    Ledger.Attempt(
                        location: write.location, name: operation.name, life: life.number,
                        isRefused: operation.isRefused))
            }
        }
    }

    private mutating func learnVersions() {
        for write in life.writes {
            for operation in write.operations {
                if case .saved(let tag) = operation.outcome {
                    note(
                        RecordVersion(tag: tag, value: operation.value), write.location,
                        operation.name,
                        by: "an acknowledgement")
                }
                if case .refused(_, let version?) = operation.outcome {
                    note(version, write.location, operation.name, by: "a refusal")
                }
            }
        }
        for sighting in life.sightings {
            if let version = sighting.version {
                note(version, sighting.location, sighting.name, by: sighting.by)
            }
        }
        for page in life.pages {
            ledger.reached(page.token.position)
            for case (let name, let version?) in page.records {
                note(version, page.location, name, by: page.follower)
            }
        }
        for (location, state) in life.final {
            ledger.reached(state.position)
            for (name, version) in state.records {
                note(version, location, name, by: "the restart")
            }
        }
    }

    private mutating func note(
        _ version: RecordVersion, _ location: UserZone, _ name: String, by: String
    ) {
        if let (kind, text) = ledger.note(version, location, name, by: by) { report(kind, text) }
    }

    private mutating func makeTimelines() {
        for (location, state) in life.initial {
            for (name, version) in state.records {
                timelines[Key(location: location, name: name), default: Timeline()].initial =
                    version
            }
        }
        for (index, write) in life.writes.enumerated() {
            for operation in write.operations where !operation.isRefused {
                add(operation, of: write, index)
            }
        }
        for change in life.zoneChanges where change.deletes && change.isDone != false {
            let deletion = Timeline.Deletion(
                base: nil, span: change.span, isAcknowledged: change.isDone == true, write: nil)
            for key in timelines.keys where key.location == change.location {
                timelines[key]?.deletions.append(deletion)
            }
        }
        for key in timelines.keys {
            timelines[key]?.saves.sort { $0.version.tag < $1.version.tag }
        }
    }

    private mutating func add(_ operation: Operation, of write: Write, _ index: Int) {
        let key = Key(location: write.location, name: operation.name)
        let isAcknowledged = operation.outcome != .unknown
        guard !operation.deletes else {
            let deletion = Timeline.Deletion(
                base: operation.base, span: write.span, isAcknowledged: isAcknowledged,
                write: index)
            timelines[key, default: Timeline()].deletions.append(deletion)
            return
        }
        // One that was not answered counts once somebody saw it.
        guard let tag = ledger.tag(of: operation.value) else {
            timelines[key, default: Timeline()].saves += []
            return
        }
        let save = Timeline.Save(
            version: RecordVersion(tag: tag, value: operation.value), span: write.span,
            kind: operation.kind, isAcknowledged: isAcknowledged)
        timelines[key, default: Timeline()].saves.append(save)
    }

    // MARK: - Numbers

    /// Numbers grow with time, over restarts too.
    private mutating func checkOrder() {
        var saves: [(tag: Int64, span: Span)] = []
        for write in life.writes {
            for case .saved(let tag) in write.operations.map(\.outcome) {
                saves.append((tag, write.span))
            }
        }
        for save in saves where save.tag <= highestBefore {
            report(.tagWentBack, "\(save.tag) was given though \(highestBefore) had been")
        }
        let begun = saves.sorted { $0.span.began < $1.span.began }
        let ended = saves.sorted { $0.span.ended < $1.span.ended }
        var next = 0
        var highest: Int64 = 0
        for save in begun {
            while next < ended.count, ended[next].span.isBefore(save.span) {
                highest = max(highest, ended[next].tag)
                next += 1
            }
            if save.tag <= highest {
                report(.tagWentBack, "\(save.tag) was given after \(highest)")
            }
        }
    }

    // MARK: - Refusals

    private mutating func checkRefusals() {
        for write in life.writes {
            if write.isAtomic { checkWholeness(of: write) }
            for operation in write.operations {
                guard case .refused(let code, let version) = operation.outcome else { continue }
                check(operation, of: write, refusedWith: code, version)
            }
        }
    }

    private mutating func check(
        _ operation: Operation, of write: Write, refusedWith code: String, _ holds: RecordVersion?
    ) {
        let said = "\(operation.name) of \(write.location), \(operation.kind)"
        switch code {
        case "CONFLICT":
            guard let holds else {
                return report(.falseConflict, "\(said): a conflict without the server's record")
            }
            if operation.base == holds.tag {
                report(.falseConflict, "\(said): a conflict with its own base")
            }
            check(sighting(holds))
        case "NOT_FOUND": check(sighting(nil))
        case "ATOMIC_ERROR", "ZONE_NOT_FOUND", "DISK_FULL": break
        default: report(.oddAnswer, "\(said): \(code)")
        }
        func sighting(_ version: RecordVersion?) -> Sighting {
            Sighting(
                location: write.location, name: operation.name, version: version, span: write.span,
                by: "a refusal (\(code))")
        }
    }

    /// An atomic batch is answered as a whole, with at least one culprit when it failed.
    private mutating func checkWholeness(of write: Write) {
        let refused = write.operations.filter(\.isRefused)
        guard !refused.isEmpty else { return }
        if refused.count != write.operations.count {
            report(.halfBatch, "an atomic batch in \(write.location) was answered half refused")
        }
        let isInnocent = refused.allSatisfy {
            if case .refused("ATOMIC_ERROR", _) = $0.outcome { true } else { false }
        }
        if isInnocent {
            report(
                .falseConflict, "an atomic batch in \(write.location) was refused without reason")
        }
    }

    // MARK: - Sightings

    mutating func check(_ sighting: Sighting) {
        let key = Key(location: sighting.location, name: sighting.name)
        let timeline = timelines[key] ?? Timeline()
        guard let (kind, text) = timeline.objection(to: sighting.version, in: sighting.span)
        else { return }
        let isLate = sighting.span.began == .max && kind == .staleRead
        report(
            isLate ? .acknowledgedLost : kind,
            "\(key.name) of \(key.location), seen by \(sighting.by): \(text)")
    }

    private mutating func check(_ snapshot: Snapshot) {
        for key in timelines.keys where key.location == snapshot.location {
            check(
                Sighting(
                    location: key.location, name: key.name, version: snapshot.records[key.name],
                    span: snapshot.span, by: snapshot.by))
        }
        for (index, write) in life.writes.enumerated()
        where write.isAtomic && write.location == snapshot.location {
            if !write.operations.contains(where: \.isRefused) {
                check(batch: write, index, in: snapshot)
            }
        }
    }

    /// All of a batch shows, as far as later writes have not replaced it, or none of it.
    private mutating func check(batch: Write, _ index: Int, in snapshot: Snapshot) {
        let seen = batch.operations.compactMap { operation in
            snapshot.records[operation.name].flatMap {
                $0.value == operation.value ? $0.tag : nil
            }
        }
        let tag = seen.max() ?? -1
        guard tag >= 0 || mustHaveDeleted(batch, index, in: snapshot) else { return }
        for operation in batch.operations {
            let found = snapshot.records[operation.name]
            if let found {
                // Whatever is later than the batch's latest came after all of it.
                let isItsOwn = found.value == operation.value
                if isItsOwn || (tag >= 0 && found.tag > tag) { continue }
                if tag < 0, !isFrom(before: batch, found, operation.name) { continue }
            } else if operation.deletes
                || mayBeGone(operation, of: batch, index, seen: tag, by: snapshot.span)
            {
                continue
            }
            report(
                .halfBatch,
                "\(snapshot.by) has a batch in \(snapshot.location) in part: \(operation.name) is "
                    + "\(found?.description ?? "missing"), not \(operation.value)")
        }
    }

    /// Whether nobody but the batch can have deleted what is missing.
    private func mustHaveDeleted(
        _ batch: Write, _ index: Int, in snapshot: Snapshot
    ) -> Bool {
        batch.operations.contains { operation in
            guard operation.deletes, snapshot.records[operation.name] == nil,
                let timeline = timelines[Key(location: batch.location, name: operation.name)],
                let previous = timeline.floor(before: snapshot.span)
            else { return false }
            return timeline.mayBeGone(previous, by: snapshot.span)
                && !timeline.mayBeGone(previous, by: snapshot.span, without: index)
        }
    }

    private func isFrom(before batch: Write, _ version: RecordVersion, _ name: String) -> Bool {
        let timeline = timelines[Key(location: batch.location, name: name)]
        guard let floor = timeline?.floor(before: batch.span) else { return false }
        return version.tag <= floor.version.tag
    }

    private func mayBeGone(
        _ operation: Operation, of batch: Write, _ index: Int, seen: Int64, by span: Span
    ) -> Bool {
        guard let timeline = timelines[Key(location: batch.location, name: operation.name)] else {
            return false
        }
        let tag = ledger.tag(of: operation.value)
        let previous = max(seen, timeline.floor(before: batch.span)?.version.tag ?? -1)
        return timeline.deletions.contains { deletion in
            guard deletion.write != index, deletion.span.began <= span.ended else { return false }
            guard let base = deletion.base else { return deletion.span.ended > batch.span.began }
            return base == tag || base > previous
        }
    }
}
