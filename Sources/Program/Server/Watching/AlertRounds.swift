import Background
import CloudModel
import Telemetry

/// Looks each minute whether an alert has something to tell, on a thread of its own.
///
/// That it tells is noted before it does: after a crash in between nobody is told, rather than twice.
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
        for rule in try storage.alerts() {
            let now = folder.clock.now()
            guard !runner.isStopped, rule.mayTell(at: now) else { continue }
            let judgement = try AlertJudgement(rule, in: storage, at: now)
            guard judgement.isMet(by: rule) else { continue }
            guard try storage.noteTold(rule, at: now) else { continue }
            let message = AlertMessage(rule, judgement)
            log.warning("alert", [("alert", .text(rule.name)), ("what", .text(message.subject))])
            do { try folder.tell(message, by: rule) } catch {
                log.error("an alert was not told", [("failure", .text("\(error)"))])
            }
        }
    }
}
