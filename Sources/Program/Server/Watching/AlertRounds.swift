import Background
import CloudModel
import Telemetry

/// Looks each minute whether an alert has something to tell, on a thread of its own.
///
/// That somebody is to be told is noted before they are, and that they were told afterwards. So who is not told is told
/// again each minute, by this process or another, under the same identifier.
final class AlertRounds: Sendable {
    /// After the minute was put away.
    private static let delayMilliseconds: Milliseconds = 2_000

    private let folder: DataFolder
    private let log: Log
    private let runner: Runner

    /// Nothing begins before `begin`.
    init(_ folder: DataFolder, log: Log) {
        self.folder = folder
        self.log = log
        runner = Runner("lenticular.alerts") { error in
            log.warning("alerts not looked at", [("failure", .text("\(error)"))])
        }
        runner.use { [weak self] in try self?.look() ?? .never }
    }

    func begin() { runner.goOn(untilNext) }

    /// Ends it, and waits for who is told at the moment.
    func stop() { runner.stop() }

    private var untilNext: Runner.Next {
        .later(milliseconds: 60_000 - folder.clock.now() % 60_000 + Self.delayMilliseconds)
    }

    private func look() throws -> Runner.Next {
        // What all processes count lies together: one tells of it.
        if folder.engine.processes.leads { try round() }
        return untilNext
    }

    /// Tells of what is to be told now.
    func round() throws {
        let storage = try folder.telemetryFile.storage()
        // All are judged before anybody is told, which may take long.
        let rules = try storage.alerts().compactMap { try due($0, in: storage) }
        var silent: Set<String> = []
        for rule in rules {
            guard !runner.isStopped else { return }
            try tell(rule, in: storage, &silent)
        }
    }

    /// An alert of which somebody is to be told; nil for nothing to tell.
    private func due(
        _ rule: AlertRule, in storage: any TelemetryStorage
    ) throws -> AlertRule? {
        let now = folder.clock.now()
        if rule.telling.isDue(at: now) { return rule }
        guard rule.mayTell(at: now) else { return nil }
        guard try AlertJudgement(rule, in: storage, at: now).isMet(by: rule) else { return nil }
        var due = rule
        (due.telling.dueAt, due.telling.reached) = (now, [])
        return try storage.note(due.telling, of: rule) ? due : nil
    }

    /// - Parameter silent: who has not taken an alert in this round, and is not asked again in it.
    private func tell(
        _ rule: AlertRule, in storage: any TelemetryStorage, _ silent: inout Set<String>
    ) throws {
        var rule = rule
        let judgement = try AlertJudgement(rule, in: storage, at: rule.telling.dueAt)
        let message = AlertMessage(rule, judgement)
        log.warning("alert", [("alert", .text(rule.name)), ("what", .text(message.subject))])
        for way in [AlertWays.mail, .url]
        where rule.ways.subtracting(rule.telling.reached).contains(way) {
            let receiver = way == .mail ? "mail" : rule.url
            guard !silent.contains(receiver) else { continue }
            do { try folder.tell(message, by: rule, through: way, as: rule.identifier) } catch {
                silent.insert(receiver)
                log.error(
                    "an alert was not told; it is told again",
                    [("alert", .text(rule.name)), ("failure", .text("\(error)"))])
                continue
            }
            var telling = rule.telling
            telling.reached.insert(way)
            if telling.reached.isSuperset(of: rule.ways) {
                telling = AlertTelling()
                telling.toldAt = folder.clock.now()
            }
            // Another process goes on with it otherwise.
            guard try storage.note(telling, of: rule) else { return }
            rule.telling = telling
        }
    }
}
