import CloudModel

/// Finds out why a user's devices do not sync; what is in order is never named.
struct SyncCauses {
    private let devices: [SyncStory.Device]
    private let facts: SyncFacts

    init(_ devices: [SyncStory.Device], _ facts: SyncFacts) {
        self.devices = devices
        self.facts = facts
    }

    /// The causes, the weightiest first; one that shows on several devices once.
    var all: [SyncCause] {
        var found: [SyncCause] = []
        for (index, device) in devices.enumerated() {
            for cause in causes(of: device, facts.gaps[index] ?? [:]) {
                if let known = found.firstIndex(where: {
                    $0.kind == cause.kind && $0.problem == cause.problem
                }) {
                    found[known].devices += cause.devices
                } else {
                    found.append(cause)
                }
            }
        }
        let order = SyncCause.Kind.allCases
        return found.sorted {
            (order.firstIndex(of: $0.kind) ?? 0) < (order.firstIndex(of: $1.kind) ?? 0)
        }
    }

    private func causes(
        of device: SyncStory.Device, _ gaps: [SyncStory.ZoneReference: SyncFacts.Gap]
    ) -> [SyncCause] {
        var found = [refused(device), throttled(device), conflict(device), serverTrouble(device)]
            .compactMap { $0 }
        found += open(device)
        let stale = staleToken(device)
        found += [stale].compactMap { $0 }
        // What else is wrong explains why it is behind.
        guard found.isEmpty else { return found + lostPush(device, isBehind: false) }
        let late = late(device, gaps)
        let pushes = lostPush(device, isBehind: late != nil)
        return pushes.isEmpty ? [late].compactMap { $0 } : pushes
    }

    private func name(_ device: SyncStory.Device) -> String {
        device.id.map { id in device.software.map { "\($0.text) on \(id)" } ?? id }
            ?? device.software?.text ?? "a device without a name"
    }

    /// Why its credentials are not believed any more.
    private func refused(_ device: SyncStory.Device) -> SyncCause? {
        guard let refusal = device.refusal else { return nil }
        let (names, since) = ([name(device)], Timestamp(refusal.since).text)
        if let ahead = device.dateAhead {
            let minutes = max(1, ahead.milliseconds.magnitude / 60_000)
            return SyncCause(
                .wrongClock,
                "The clock that signs the requests is \(minutes) minutes "
                    + "\(ahead.milliseconds > 0 ? "ahead" : "behind"), so they are refused since "
                    + "\(since).",
                remedy: "Set the clock of that machine by NTP.", devices: names,
                since: refusal.since)
        }
        switch refusal.reason {
        case "webTokenExpired":
            return SyncCause(
                .signInExpired, "The sign-in has expired, and requests are refused since \(since).",
                remedy: "The user signs in again in the app.", devices: names,
                since: refusal.since)
        case "webTokenUnknown":
            return SyncCause(
                .signedOut,
                "The device is signed out: its session was ended, and requests are refused since "
                    + "\(since).", remedy: "The user signs in again in the app.", devices: names,
                since: refusal.since)
        case "apiTokenUnknown":
            return SyncCause(
                .apiTokenRevoked,
                "The app's API token was revoked or is of another environment: requests are "
                    + "refused since \(since).",
                remedy: "Give the app a token that stands (`api-token create`).", devices: names,
                since: refusal.since)
        case "originNotAllowed":
            return SyncCause(
                .originNotAllowed,
                "The API token does not allow the page's origin: requests are refused since "
                    + "\(since).",
                remedy: "Make a token for that origin (`api-token create --origin`).",
                devices: names, since: refusal.since)
        default:
            return SyncCause(
                .credentialsRefused,
                "Requests are refused since \(since) for their credentials (\(refusal.reason)).",
                remedy: "Look at the keys and tokens that the app uses.", devices: names,
                since: refusal.since)
        }
    }

    private func throttled(_ device: SyncStory.Device) -> SyncCause? {
        let count = device.lately.filter { $0 }.count
        guard count >= SyncReport.turnsMin, count * 4 >= device.lately.count else { return nil }
        return SyncCause(
            .throttled,
            "The app asks too much at once: of its last \(device.lately.count) requests "
                + "\(count) were throttled.",
            remedy: "The app waits as long as Retry-After says; or raise the rate.",
            devices: [name(device)])
    }

    private func conflict(_ device: SyncStory.Device) -> SyncCause? {
        guard let worst = device.conflicts.max(by: { $0.value.count < $1.value.count }),
            worst.value.count >= SyncReport.turnsMin
        else { return nil }
        return SyncCause(
            .endlessConflict,
            "The app saves a record of the \(worst.key.place.text) again and again with an old "
                + "tag: CONFLICT \(worst.value.count) times in turn since "
                + "\(Timestamp(worst.value.first).text).",
            remedy: "The app takes the server's record from the answer, merges, and saves that.",
            devices: [name(device)], since: worst.value.first)
    }

    private func staleToken(_ device: SyncStory.Device) -> SyncCause? {
        guard
            let worst = device.progress.max(by: { $0.value.repeats < $1.value.repeats }),
            worst.value.repeats + 1 >= SyncReport.turnsMin
        else { return nil }
        return SyncCause(
            .staleToken,
            "The app asks for the \(worst.key.text) with the same old sync token again and "
                + "again, \(worst.value.repeats + 1) times since "
                + "\(Timestamp(worst.value.repeatsSince).text): it does not keep the new one.",
            remedy: "The app keeps the token of each answer once it has stored its records.",
            devices: [name(device)], since: worst.value.repeatsSince)
    }

    private func serverTrouble(_ device: SyncStory.Device) -> SyncCause? {
        let codes = [FaultCode.internalError, .tryAgainLater].map(\.rawValue)
        let seen = device.troubles.filter {
            codes.contains($0.key.code) && isOpen($0.value) && $0.value.count >= SyncReport.turnsMin
        }
        guard let worst = seen.max(by: { $0.value.count < $1.value.count }) else { return nil }
        return SyncCause(
            .serverTrouble,
            "The server fails: \(worst.key.code) \(worst.value.count) times since "
                + "\(Timestamp(worst.value.first).text).",
            remedy: "Look into the server's log, and at `doctor`.", devices: [name(device)],
            since: worst.value.first)
    }

    private func isOpen(_ seen: SyncStory.Occurrences) -> Bool {
        seen.goodSince < SyncReport.goodEnough
    }

    /// Troubles that nothing has ended since.
    private func open(_ device: SyncStory.Device) -> [SyncCause] {
        var found: [SyncCause] = []
        let troubles = device.troubles.sorted { $0.value.last > $1.value.last }
        for (trouble, seen) in troubles where isOpen(seen) {
            guard let cause = cause(trouble, seen, device),
                !found.contains(where: { $0.kind == cause.kind })
            else { continue }
            found.append(cause)
        }
        return found
    }

    private func cause(
        _ trouble: SyncStory.Trouble, _ seen: SyncStory.Occurrences, _ device: SyncStory.Device
    ) -> SyncCause? {
        let (names, since) = ([name(device)], Timestamp(seen.first).text)
        let times = seen.count == 1 ? "once, at \(since)" : "\(seen.count) times since \(since)"
        func made(_ kind: SyncCause.Kind, _ problem: String, _ remedy: String) -> SyncCause {
            SyncCause(kind, problem, remedy: remedy, devices: names, since: seen.first)
        }
        switch trouble.reason.flatMap({ FaultCause(rawValue: $0) }) {
        case .quotaUsedUp:
            return made(
                .quotaFull,
                "The quota is full (\(facts.usedBytes) of \(facts.quotaBytes) bytes): saves were "
                    + "refused \(times).",
                "Raise it (`container set`, limits.userQuotaBytes), or have the user delete "
                    + "something.")
        case .schemaLacksType, .schemaLacksField:
            guard facts.schemaChangedAt.map({ $0 < seen.last }) ?? true else { return nil }
            return made(
                .schemaMissing,
                "The schema of production lacks a record type or field that the app saves: "
                    + "refused \(times).", "Deploy the schema (`schema deploy`).")
        case .valueOfOtherType:
            return made(
                .valueOfOtherType,
                "The app saves a value of another type than the schema says: refused \(times).",
                "Change the app, or the field's type in the schema.")
        case .participantMayNotWrite:
            return made(
                .shareReadOnly,
                "They may read the \(seen.place?.text ?? "share") but not write: refused \(times).",
                "The owner of the share gives them the right to write.")
        case .syncTokenExpired, .syncTokenUnknown:
            guard seen.count >= 2 else { return nil }
            return made(
                .expiredToken,
                "The app goes on with a sync token that has expired or is of another place: "
                    + "refused \(times).",
                "The app begins again without a token when it is told so.")
        default: break
        }
        guard trouble.code == FaultCode.zoneNotFound.rawValue,
            let place = seen.place, place.database == .shared,
            facts.shares.contains(where: {
                $0.isLost && $0.zone == place.zone && $0.owner == place.owner
            })
        else { return nil }
        return made(
            .shareLost,
            "They take no part any more in what \(place.owner ?? "its owner") shared in zone "
                + "\(place.zone): removed, blocked, or the share was ended; refused \(times).",
            "The owner invites them again, or the app forgets the zone.")
    }

    /// A device that was there after a change and did not fetch it.
    private func late(
        _ device: SyncStory.Device, _ gaps: [SyncStory.ZoneReference: SyncFacts.Gap]
    ) -> SyncCause? {
        for (place, gap) in gaps.sorted(by: { $0.key.text < $1.key.text }) where gap.count > 0 {
            guard let since = gap.since,
                device.last &- since > SyncReport.lateMilliseconds,
                let asked = device.progress[place]?.moment, asked <= since
            else { continue }
            return SyncCause(
                .notFetching,
                "The app is behind in the \(place.text): \(gap.count) records changed since "
                    + "\(Timestamp(since).text), and it was there later without fetching them.",
                remedy: "The app fetches changes when it starts and when a notice comes.",
                devices: [name(device)], since: since)
        }
        return nil
    }

    /// Notices that do not reach a device.
    private func lostPush(_ device: SyncStory.Device, isBehind: Bool) -> [SyncCause] {
        guard !facts.subscriptions.isEmpty else { return [] }
        let own = facts.destinations.filter { $0.device == device.id || $0.device == nil }
        for way in own where way.failures >= SyncReport.turnsMin && way.waiting > 0 {
            let since = way.oldest.map { " since \(Timestamp($0).text)" } ?? ""
            return [
                SyncCause(
                    .lostPush,
                    "Notices do not reach the device: \(way.failures) attempts by \(way.kind) "
                        + "failed in a row, and \(way.waiting) wait\(since).",
                    remedy: "Look at the push keys (`push-key list`) and at outgoing connections; "
                        + "the app registers again (tokens/register).",
                    devices: [name(device)], since: way.oldest)
            ]
        }
        guard isBehind, own.isEmpty else { return [] }
        return [
            SyncCause(
                .lostPush,
                "The device is not registered for notices, though the user has subscriptions: "
                    + "it hears of no change.",
                remedy: "The app registers it (tokens/register or tokens/create).",
                devices: [name(device)])
        ]
    }
}
