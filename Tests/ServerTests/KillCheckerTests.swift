import Testing

/// Histories made by hand: one that a good server gives, and each with one promise broken.
@Suite("The checker of the kill test")
struct KillCheckerTests {
    private let location = UserZone(user: 0, zone: "Z")

    /// One life in which a and b are there at the start, and a client saves, batches and deletes.
    ///
    /// a: 10, then updated at 20. b: 11, deleted. c and d: a batch at 21 and 22. e: made at 23,
    /// deleted after. f: a save without an answer that did not happen.
    private var good: Life {
        var life = Life(number: 2)
        life.initial[location] = ZoneState(
            number: 1, position: 11, records: ["a": v(10, "a0"), "b": v(11, "b0")])
        life.writes = [
            write(10, 19, [Operation("a", .update(base: 10), "a1", .saved(20))]),
            write(
                20, 29,
                [
                    Operation("c", .create, "c1", .saved(21)),
                    Operation("d", .create, "d1", .saved(22)),
                ], isAtomic: true),
            write(30, 39, [Operation("b", .delete(base: 11), "", .deleted)]),
            write(40, 49, [Operation("e", .create, "e1", .saved(23))]),
            write(50, 59, [Operation("e", .forceDelete, "", .deleted)]),
            write(60, .max, [Operation("f", .create, "f1")]),
            write(
                60, 69,
                [
                    Operation(
                        "a", .update(base: 10), "a2", .refused(code: "CONFLICT", holds: v(20, "a1"))
                    )
                ]),
        ]
        life.final[location] = ZoneState(
            number: 1, position: 24,
            records: ["a": v(20, "a1"), "c": v(21, "c1"), "d": v(22, "d1")])
        return life
    }

    private var previous: Ledger {
        var ledger = Ledger()
        for (tag, name) in [(10, "a"), (11, "b")] as [(Int64, String)] {
            ledger.attempted(
                "\(name)0",
                Ledger.Attempt(location: location, name: name, life: 1, isRefused: false))
            _ = ledger.note(v(tag, "\(name)0"), location, name, by: "a test")
        }
        return ledger
    }

    private func v(_ tag: Int64, _ value: String) -> RecordVersion {
        RecordVersion(tag: tag, value: value)
    }

    private func write(
        _ began: UInt64, _ ended: UInt64, _ operations: [Operation], isAtomic: Bool = false
    ) -> Write {
        Write(
            location: location, span: Span(began: began, ended: ended), isAtomic: isAtomic,
            operations: operations)
    }

    private func sighting(
        _ name: String, _ version: RecordVersion?, _ began: UInt64, _ ended: UInt64
    ) -> Sighting {
        Sighting(
            location: location, name: name, version: version,
            span: Span(began: began, ended: ended),
            by: "a test")
    }

    private func page(
        _ previous: FeedToken?, _ token: FeedToken,
        _ records: [(name: String, version: RecordVersion?)],
        at time: UInt64 = 100, isNewestFirst: Bool = false, moreComing: Bool = false
    ) -> Page {
        Page(
            location: location, follower: "a test", span: Span(began: time, ended: time + 1),
            previous: previous, token: token, records: records, isNewestFirst: isNewestFirst,
            moreComing: moreComing)
    }

    private func kinds(_ change: (inout Life) -> Void) -> Set<Violation.Kind> {
        var life = good
        change(&life)
        var check = LifeCheck(life, previous)
        return Set(check.run().map(\.kind))
    }

    /// Breaks the good history and expects exactly these reports.
    private func expect(
        _ expected: Set<Violation.Kind>, at location: SourceLocation = #_sourceLocation,
        _ change: (inout Life) -> Void = { _ in }
    ) {
        let found = kinds(change)
        #expect(found == expected, sourceLocation: location)
    }

    /// Breaks the good history and expects this report among others that follow from it.
    private func expect(
        including kind: Violation.Kind, at location: SourceLocation = #_sourceLocation,
        _ change: (inout Life) -> Void
    ) {
        let found = kinds(change)
        #expect(found.contains(kind), sourceLocation: location)
    }

    // MARK: - Good histories

    @Test("A history that keeps every promise is left alone")
    func noFalseAlarm() {
        expect([])
    }

    @Test("What was never answered may have happened or not")
    func unanswered() {
        expect([]) { $0.final[location]?.records["f"] = v(24, "f1") }
        let batch = write(
            70, .max,
            [Operation("c", .delete(base: 21)), Operation("d", .update(base: 22), "d2")],
            isAtomic: true)
        expect([]) { $0.writes.append(batch) }
        expect([]) {
            $0.writes.append(batch)
            $0.final[location]?.records["c"] = nil
            $0.final[location]?.records["d"] = v(25, "d2")
        }
    }

    @Test("A read during a write may see the record before it or after it")
    func concurrentRead() {
        expect([]) { $0.sightings.append(sighting("a", v(10, "a0"), 12, 14)) }
        expect([]) { $0.sightings.append(sighting("a", v(20, "a1"), 12, 14)) }
        expect([]) { $0.sightings.append(sighting("b", nil, 32, 34)) }
    }

    @Test("A zone that is deleted and made anew takes its records along")
    func fleetingZone() {
        let changes = [
            ZoneChange(
                location: location, span: Span(began: 80, ended: 89), deletes: true, isDone: true),
            ZoneChange(
                location: location, span: Span(began: 90, ended: 99), deletes: false, isDone: true),
        ]
        expect([]) {
            $0.zoneChanges = changes
            $0.final[location] = ZoneState(number: 2, position: 26, records: [:])
        }
        expect([]) {
            $0.zoneChanges = [changes[0]]
            $0.final[location] = nil
        }
    }

    // MARK: - Durability

    @Test("An acknowledged save that is gone is reported")
    func lostSave() {
        expect(including: .acknowledgedLost) { $0.final[location]?.records["d"] = nil }
        expect([.acknowledgedLost]) { $0.final[location]?.records["a"] = v(10, "a0") }
    }

    @Test("A record of an earlier life that is gone is reported")
    func lostPast() {
        expect([.acknowledgedLost]) {
            $0.writes.removeFirst()
            $0.writes.removeLast()
            $0.final[location]?.records["a"] = nil
        }
    }

    @Test("A deletion that was acknowledged and did not last is reported")
    func deletionUndone() {
        expect([.deletionUndone]) { $0.final[location]?.records["b"] = v(11, "b0") }
        expect([.deletionUndone]) { $0.final[location]?.records["e"] = v(23, "e1") }
    }

    @Test("A zone that is gone, or is back, is reported")
    func zones() {
        let deletion = ZoneChange(
            location: location, span: Span(began: 80, ended: 89), deletes: true, isDone: true)
        expect(including: .acknowledgedLost) { $0.final[location] = nil }
        expect(including: .deletionUndone) { $0.zoneChanges = [deletion] }
        expect([.pastChanged]) { $0.final[location]?.number = 2 }
        let missing = MissingZone(location: location, span: Span(began: 5, ended: 6), by: "a test")
        expect([.acknowledgedLost]) { $0.missingZones = [missing] }
    }

    @Test("A batch that is there in part is reported, answered or not")
    func halfBatch() {
        let saves = write(
            70, .max, [Operation("g", .create, "g1"), Operation("h", .create, "h1")],
            isAtomic: true)
        expect([.halfBatch]) {
            $0.writes.append(saves)
            $0.final[location]?.records["g"] = v(25, "g1")
        }
        let mixed = write(
            70, .max,
            [Operation("c", .delete(base: 21)), Operation("d", .update(base: 22), "d2")],
            isAtomic: true)
        expect([.halfBatch]) {
            $0.writes.append(mixed)
            $0.final[location]?.records["c"] = nil
        }
        expect([.halfBatch]) {
            $0.writes.append(mixed)
            $0.final[location]?.records["d"] = v(25, "d2")
        }
        expect([.halfBatch]) {
            $0.snapshots.append(
                Snapshot(
                    location: location,
                    records: ["a": v(20, "a1"), "b": v(11, "b0"), "c": v(21, "c1")],
                    span: Span(began: 22, ended: 24), by: "a test"))
        }
        expect(
            including:
                .halfBatch
        ) { $0.writes[1].operations[0].outcome = .refused(code: "CONFLICT") }
    }

    @Test("What was refused and shows all the same is reported")
    func refusedVisible() {
        expect(including: .refusedVisible) { $0.final[location]?.records["a"] = v(25, "a2") }
        expect(including: .refusedVisible) {
            $0.sightings.append(sighting("a", v(25, "a2"), 62, 64))
        }
    }

    @Test("A value that nobody wrote, or wrote elsewhere, is reported")
    func unknownContent() {
        expect(including: .unknownContent) { $0.final[location]?.records["f"] = v(25, "z9") }
        expect(including: .unknownContent) { $0.final[location]?.records["g"] = v(25, "f1") }
    }

    @Test("A version of an earlier life that is back is reported")
    func pastChanged() {
        expect(including: .pastChanged) {
            $0.initial[location]?.records["a"] = nil
            $0.writes = []
            $0.final[location]?.records = ["a": v(10, "a0"), "b": v(11, "b0")]
        }
    }

    // MARK: - Conflicts and reads

    @Test("Two successes on one version are reported")
    func lostUpdate() {
        expect([.lostUpdate]) {
            $0.writes[6].operations[0].outcome = .saved(25)
            $0.final[location]?.records["a"] = v(25, "a2")
        }
        expect([.lostUpdate]) {
            $0.writes.append(write(70, 79, [Operation("c", .create, "c2", .saved(25))]))
            $0.final[location]?.records["c"] = v(25, "c2")
        }
        expect(including: .lostUpdate) {
            $0.writes.append(write(70, 79, [Operation("a", .delete(base: 10), "", .deleted)]))
        }
    }

    @Test("A conflict with one's own base, or with nothing, is reported")
    func falseConflict() {
        expect([.falseConflict]) {
            $0.writes.append(
                write(
                    70, 79,
                    [
                        Operation(
                            "a", .update(base: 20), "a3",
                            .refused(code: "CONFLICT", holds: v(20, "a1")))
                    ]))
        }
        expect([.falseConflict]) {
            $0.writes.append(
                write(
                    70, 79,
                    [Operation("a", .update(base: 20), "a3", .refused(code: "ATOMIC_ERROR"))],
                    isAtomic: true))
        }
        expect([.acknowledgedLost]) {
            $0.writes.append(
                write(
                    70, 79,
                    [Operation("a", .update(base: 20), "a3", .refused(code: "NOT_FOUND"))]))
        }
    }

    @Test("A read that does not see what was acknowledged before it is reported")
    func staleRead() {
        expect([.staleRead]) { $0.sightings.append(sighting("a", v(10, "a0"), 20, 21)) }
        expect([.acknowledgedLost]) { $0.sightings.append(sighting("c", nil, 30, 31)) }
        expect([.deletionUndone]) { $0.sightings.append(sighting("b", v(11, "b0"), 40, 41)) }
    }

    // MARK: - Numbers

    @Test("A tag for two contents and a content with two tags are reported")
    func tagReused() {
        expect(including: .tagReused) {
            $0.writes.append(write(70, 79, [Operation("g", .create, "g1", .saved(22))]))
            $0.final[location]?.records["g"] = v(22, "g1")
        }
        expect(including: .tagReused) { $0.sightings.append(sighting("c", v(25, "c1"), 30, 31)) }
    }

    @Test("A tag of an earlier life, or one below another that was given before, is reported")
    func tagWentBack() {
        expect([.tagWentBack]) {
            $0.writes.append(write(70, 79, [Operation("g", .create, "g1", .saved(9))]))
            $0.final[location]?.records["g"] = v(9, "g1")
        }
        expect([.tagWentBack]) {
            $0.writes.append(write(70, 79, [Operation("g", .create, "g1", .saved(19))]))
            $0.final[location]?.records["g"] = v(19, "g1")
        }
    }

    @Test("A token that falls behind an earlier one is reported")
    func tokenWentBack() {
        let ahead = FeedToken(zone: 1, position: 23)
        expect([]) { $0.pages = [page(ahead, ahead, [])] }
        expect([.tokenWentBack]) { $0.pages = [page(ahead, FeedToken(zone: 1, position: 22), [])] }
        expect([.tokenWentBack]) { $0.pages = [page(ahead, FeedToken(zone: 2, position: 25), [])] }
        expect(including: .tokenWentBack) {
            $0.initial[location]?.position = 30
            $0.final[location]?.position = 29
        }
    }

    // MARK: - Feeds

    @Test("A follower that misses a change or a deletion is reported")
    func feedIncomplete() {
        let whole = good.final[location]?.records ?? [:]
        var lacking = whole
        lacking["d"] = nil
        var stale = whole
        stale["b"] = v(11, "b0")
        expect([]) { $0.replicas = [("a test", location, whole)] }
        expect([.feedIncomplete]) { $0.replicas = [("a test", location, lacking)] }
        expect([.feedIncomplete]) { $0.replicas = [("a test", location, stale)] }
        expect([]) { $0.zoneReplicas = [("a test", 0, ["Z"])] }
        expect([.feedIncomplete]) { $0.zoneReplicas = [("a test", 0, [])] }
    }

    @Test("A follower that misses a change while writers are at work is reported")
    func missedWhileWriting() {
        expect([.staleRead]) {
            $0.snapshots.append(
                Snapshot(
                    location: location, records: ["a": v(10, "a0"), "b": v(11, "b0")],
                    span: Span(began: 20, ended: 21), by: "a test"))
        }
    }

    @Test("Records out of order, repeated, or beyond the page's token are reported")
    func feedOrder() {
        let start = FeedToken(zone: 1, position: 11)
        let end = FeedToken(zone: 1, position: 22)
        let (c, d) = (v(21, "c1"), v(22, "d1"))
        expect([]) { $0.pages = [page(start, end, [("c", c), ("d", d)])] }
        expect([.feedOrder]) { $0.pages = [page(start, end, [("d", d), ("c", c)])] }
        expect([.feedOrder]) { $0.pages = [page(start, end, [("c", c), ("c", c)])] }
        expect([.feedOrder]) { $0.pages = [page(end, end, [("d", d)])] }
        let short = FeedToken(zone: 1, position: 21)
        expect([.feedOrder]) { $0.pages = [page(start, short, [("c", c), ("d", d)])] }
        expect([]) { $0.pages = [page(start, end, [("d", d), ("c", c)], isNewestFirst: true)] }
        expect([.feedOrder]) {
            $0.pages = [page(start, end, [("c", c), ("d", d)], isNewestFirst: true)]
        }
    }

    @Test("A token called expired in a zone that is still the same is reported")
    func falseExpiry() {
        func expiry(_ now: Int64) -> Expiry {
            Expiry(location: location, follower: "a test", previous: 1, now: now)
        }
        expect([]) { $0.expiries = [expiry(2)] }
        expect([.tokenExpired]) { $0.expiries = [expiry(1)] }
    }

    @Test("An answer that no client should get is reported")
    func oddAnswer() {
        expect([.oddAnswer]) { $0.oddities = ["500"] }
        expect([.oddAnswer]) {
            $0.writes.append(
                write(
                    70, 79,
                    [Operation("a", .update(base: 20), "a3", .refused(code: "INTERNAL_ERROR"))]
                ))
        }
    }
}
