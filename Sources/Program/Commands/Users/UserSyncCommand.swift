import Administration
import CloudModel

extension Command {
    static let userSync: [Command] = [
        Command(
            "user sync", "say why a user's devices show old data, and what to do",
            reach: [.looks, .own],
            positionals: [CommandPositional("EMAIL", "the address that names the account")]
                + CommandPositional.containerAndEnvironment,
            action: .data { invocation, administrator in
                let report = try administrator.perform(
                    ExplainSync(
                        invocation.required("EMAIL"), in: invocation.containerAndEnvironment()))
                return CommandOutput(report.lines.joined(separator: "\n"), values: report.members)
            })
    ]
}

private typealias Members = [(key: String, value: CommandOutput.Value)]

extension SyncReport {
    /// As people read it: the causes first.
    fileprivate var lines: [String] {
        var lines = [firstLine]
        for device in devices {
            lines.append("")
            let app = device.software.map { "  \($0.text)" } ?? ""
            lines.append("device \(device.id ?? "without a name")\(app)")
            lines.append(
                "  seen \(Timestamp(device.first).text) to \(Timestamp(device.last).text), "
                    + "\(device.requests) requests")
            lines += device.zones.map { "  \($0.line)" }
            lines += device.errors.map { "  \($0.line)" }
            lines += device.conflicts.map {
                "  conflict: a record of the \($0.zone) \($0.count) times in turn, last "
                    + Timestamp($0.last).text
            }
            if device.throttledLately > 0 {
                lines.append("  throttled lately: \(device.throttledLately)")
            }
        }
        lines.append("")
        lines.append("stored: \(usedBytes) of \(quotaBytes == 0 ? "any" : "\(quotaBytes)") bytes")
        lines += subscriptions.map {
            "subscription: \($0.kind)  \($0.database.rawValue)  \($0.zone ?? "any zone")  \($0.id)"
        }
        lines += destinations.map(\.line)
        lines += shares.map {
            "share: zone \($0.zone) of \($0.owner)  "
                + ($0.isLost ? "lost" : "\($0.permission), \($0.status)")
        }
        return lines
    }

    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [
            ("summary", .text(firstLine)),
            ("causes", .objects(causes.map(\.members))),
            ("devices", .objects(devices.map(\.members))),
            ("usedBytes", .number(usedBytes)), ("quotaBytes", .number(quotaBytes)),
            (
                "subscriptions",
                .objects(
                    subscriptions.map {
                        [
                            ("subscriptionID", .text($0.id)),
                            ("database", .text($0.database.rawValue)), ("type", .text($0.kind)),
                        ] + optional("zone", $0.zone)
                    })
            ), ("destinations", .objects(destinations.map(\.members))),
            (
                "shares",
                .objects(
                    shares.map {
                        [
                            ("ownerRecordName", .text($0.owner)), ("zoneName", .text($0.zone)),
                            ("lost", .flag($0.isLost)), ("permission", .text($0.permission)),
                            ("status", .text($0.status)),
                        ]
                    })
            ),
        ]
    }
}

private func optional(_ key: String, _ text: String?) -> Members {
    text.map { [(key, .text($0))] } ?? []
}

private func optional(_ key: String, _ moment: Milliseconds?) -> Members {
    moment.map { [(key, .text(Timestamp($0).text))] } ?? []
}

extension SyncCause {
    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [
            ("cause", .text(kind.rawValue)), ("problem", .text(problem)),
            ("remedy", .text(remedy)), ("devices", .texts(devices)),
        ] + optional("since", since)
    }
}

extension SyncReport.Device {
    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        optional("clientId", id) + optional("app", software?.text)
            + optional("version", software.map(\.version))
            + [
                ("first", .text(Timestamp(first).text)), ("last", .text(Timestamp(last).text)),
                ("requests", .number(Int64(requests))),
            ] + optional("session", session)
            + [
                ("sessionStands", .flag(isSessionAlive)),
                ("zones", .objects(zones.map(\.members))),
                ("errors", .objects(errors.map(\.members))),
                (
                    "conflicts",
                    .objects(
                        conflicts.map {
                            [
                                ("zone", .text($0.zone)), ("count", .number(Int64($0.count))),
                                ("first", .text(Timestamp($0.first).text)),
                                ("last", .text(Timestamp($0.last).text)),
                            ]
                        })
                ), ("throttledLately", .number(Int64(throttledLately))),
            ]
    }
}

extension SyncReport.Zone {
    fileprivate var line: String {
        let place = "\(database.rawValue) zone \(name)" + (owner.map { " of \($0)" } ?? "")
        guard let end else { return "\(place): not there any more" }
        guard behind > 0 else {
            return "\(place): at its end (\(position)), asked "
                + Timestamp(askedAt).text
        }
        let since = behindSince.map { " since \(Timestamp($0).text)" } ?? ""
        return "\(place): at \(position) of \(end), \(behind) records behind\(since), asked "
            + Timestamp(askedAt).text
    }

    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [("database", .text(database.rawValue)), ("zoneName", .text(name))]
            + optional("ownerRecordName", owner)
            + [
                ("position", .number(position)), ("asked", .text(Timestamp(askedAt).text)),
                ("behind", .number(Int64(behind))),
            ] + (end.map { [("end", .number($0))] } ?? []) + optional("behindSince", behindSince)
    }
}

extension SyncReport.Failure {
    fileprivate var line: String {
        let words = reason.map { "\(code)(\($0))" } ?? code
        return "\(isOver ? "was" : "is") failing: \(operation) \(words) ×\(count), last "
            + "\(Timestamp(last).text). \(meaning)"
    }

    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [("code", .text(code))] + optional("reason", reason)
            + [
                ("operation", .text(operation)), ("count", .number(Int64(count))),
                ("last", .text(Timestamp(last).text)), ("over", .flag(isOver)),
                ("meaning", .text(meaning)),
            ]
    }
}

extension SyncDestination {
    fileprivate var line: String {
        "notices by \(kind)" + (device.map { " to \($0)" } ?? "") + ": \(waiting) wait"
            + (oldest.map { " since \(Timestamp($0).text)" } ?? "")
            + ", \(failures) attempts failed in a row, last used \(Timestamp(usedAt).text)"
    }

    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [("kind", .text(kind))] + optional("clientId", device)
            + [
                ("failures", .number(Int64(failures))), ("waiting", .number(Int64(waiting))),
                ("used", .text(Timestamp(usedAt).text)),
            ] + optional("oldest", oldest)
    }
}
