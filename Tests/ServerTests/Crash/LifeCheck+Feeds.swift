extension LifeCheck {
    // MARK: - After the restart

    /// What was there before this life and was not touched in it is still there as it was.
    mutating func checkFinal() {
        for (location, state) in life.final {
            let previous = life.initial[location]
            for (name, version) in state.records where previous?.records[name] != version {
                guard let attempt = ledger.attempts[version.value] else { continue }
                if attempt.life != life.number {
                    report(
                        .pastChanged, "\(name) of \(location) is \(version) of life \(attempt.life)"
                    )
                }
                if let previous, version.tag <= previous.position {
                    report(.tagWentBack, "\(name) of \(location) is \(version) before the start")
                }
            }
            guard let previous else { continue }
            if state.number == previous.number, state.position < previous.position {
                report(
                    .tokenWentBack,
                    "\(location) ends at \(state.position), before \(previous.position)")
            }
            if state.number < previous.number {
                report(.tokenWentBack, "\(location) has a number that an older zone had")
            }
            if state.number > previous.number, !mayHaveGone(location) {
                report(.pastChanged, "\(location) is another zone and nobody deleted it")
            }
        }
    }

    mutating func checkZones() {
        let locations = Set(life.initial.keys).union(life.zoneChanges.map(\.location))
        for location in locations.union(life.final.keys) {
            let changes = life.zoneChanges.filter { $0.location == location && $0.isDone != false }
            checkZone(
                location, changes, isThere: life.final[location] != nil, in: .always,
                by: "the restart")
        }
        for missing in life.missingZones {
            let changes = life.zoneChanges.filter {
                $0.location == missing.location && $0.isDone != false
            }
            checkZone(missing.location, changes, isThere: false, in: missing.span, by: missing.by)
        }
        for expiry in life.expiries where expiry.previous == expiry.now {
            report(.tokenExpired, "\(expiry.follower) in \(expiry.location), which is the same")
        }
    }

    private mutating func checkZone(
        _ location: UserZone, _ changes: [ZoneChange], isThere: Bool, in span: Span, by: String
    ) {
        let done = changes.filter { $0.isDone == true && $0.span.isBefore(span) }
        func mayBeUndone(since start: Span?, by isDeletion: Bool) -> Bool {
            changes.contains {
                $0.deletes == isDeletion && $0.span.began <= span.ended
                    && $0.span.ended > start?.began ?? 0
            }
        }
        if isThere {
            for deletion in done where deletion.deletes {
                if !mayBeUndone(since: deletion.span, by: false) {
                    report(.deletionUndone, "\(by) has \(location), which was deleted")
                }
            }
            if life.initial[location] == nil, !mayBeUndone(since: nil, by: false) {
                report(.pastChanged, "\(by) has \(location), which nobody made")
            }
        } else {
            let starts = done.filter { !$0.deletes }.map { Optional($0.span) }
            for start in starts + (life.initial[location] == nil ? [] : [nil]) {
                if !mayBeUndone(since: start, by: true) {
                    report(.acknowledgedLost, "\(by) misses \(location), which nobody deleted")
                }
            }
        }
    }

    private func mayHaveGone(_ location: UserZone) -> Bool {
        life.zoneChanges.contains { $0.location == location && $0.deletes && $0.isDone != false }
    }

    /// A follower that has caught up holds what the server holds.
    mutating func checkReplicas() {
        for (follower, location, records) in life.replicas {
            let state = life.final[location]?.records ?? [:]
            for name in Set(records.keys).union(state.keys).sorted()
            where records[name] != state[name] {
                let has = records[name]?.description ?? "nothing"
                report(
                    .feedIncomplete,
                    "\(follower) has \(has) as \(name) of \(location), the server "
                        + (state[name]?.description ?? "nothing"))
            }
        }
    }

    mutating func checkZoneReplicas() {
        for (follower, user, zones) in life.zoneReplicas {
            let there = Set(life.final.keys.filter { $0.user == user }.map(\.zone))
            if zones != there {
                report(
                    .feedIncomplete,
                    "\(follower) has the zones \(zones.sorted()), the server \(there.sorted())")
            }
        }
    }

    // MARK: - Pages

    mutating func checkPages() {
        for page in life.pages {
            for (name, version) in page.records {
                check(
                    Sighting(
                        location: page.location, name: name, version: version, span: page.span,
                        by: page.follower))
            }
            checkTokens(of: page)
            checkOrder(of: page)
        }
    }

    private mutating func checkTokens(of page: Page) {
        guard let previous = page.previous else { return }
        let said = "\(page.follower) in \(page.location): \(page.token) after \(previous)"
        if page.token.zone != previous.zone { report(.tokenWentBack, "\(said): another zone's") }
        if page.token.position < previous.position { report(.tokenWentBack, said) }
        if case .reverse(let before, _) = page.token.cursor,
            case .reverse(let previousBefore, _) = previous.cursor, before > previousBefore
        {
            report(.tokenWentBack, said)
        }
        if !page.moreComing, !page.token.isComplete {
            report(.feedOrder, "\(said): nothing more is coming and yet it is not complete")
        }
    }

    /// Records come in the order of their changes, none from before the token, none from after.
    private mutating func checkOrder(of page: Page) {
        let tags = page.records.compactMap { $0.version?.tag }
        let sorted = page.isNewestFirst ? tags.sorted(by: >) : tags.sorted()
        let said = "\(page.follower) in \(page.location), a page of \(tags)"
        if tags != sorted || Set(tags).count != tags.count { report(.feedOrder, said) }
        if Set(page.records.map(\.name)).count != page.records.count {
            report(.feedOrder, "\(said): a record twice")
        }
        guard let lowest = tags.min(), let highest = tags.max() else { return }
        if lowest <= page.previous?.position ?? 0 {
            report(.feedOrder, "\(said) repeats what came before \(page.previous?.position ?? 0)")
        }
        if page.isNewestFirst, case .reverse(let before, _) = page.previous?.cursor,
            highest >= before
        {
            report(.feedOrder, "\(said) repeats what came from \(before) on")
        }
        let isWithin =
            switch page.token.cursor {
            case .reverse(_, let until): highest <= until
            case .none, .first: highest <= page.token.position
            }
        if !isWithin { report(.feedOrder, "\(said) goes beyond its token \(page.token)") }
    }
}
