import Accounts
import CloudModel
import Configuration
import Dispatch
import Pages

/// Sends queued letters while the server runs.
///
/// Looks every few seconds, at one index, whether one is due: commands queue letters too.
final class LetterCarrier: Sendable {
    private static let secondsBetweenLooks = 2

    private let round: LetterRound
    private let clock: Clock
    private let log: Log
    private let queue = DispatchQueue(label: "lenticular.letters", qos: .utility)
    // Dispatch's own objects may be used from any thread; only their Swift class does not say so.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    /// Begins to look.
    init(_ folder: DataFolder, _ sender: any LetterSender, log: Log) {
        round = LetterRound(
            catalog: folder.catalog, letters: folder.reception.letters, sender: sender,
            compose: LetterTexts.compose(base: folder.configuration.baseURL))
        clock = folder.clock
        self.log = log
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(
            deadline: .now(), repeating: .seconds(Self.secondsBetweenLooks),
            leeway: .milliseconds(200))
        timer.setEventHandler { [weak self] in self?.look() }
        timer.activate()
    }

    /// Ends it, and waits for a letter that is on its way.
    func stop() {
        timer.cancel()
        queue.sync {}
    }

    /// What sends letters; nil where the settings name nothing.
    ///
    /// - Throws: `CommandFailure` when the settings cannot be used.
    static func sender(
        of folder: DataFolder
    ) throws(CommandFailure) -> (any LetterSender)? {
        let settings = folder.configuration.mail
        switch settings.sender {
        case .none: return nil
        case .log: return PrintedLetters()
        case .program: return ProgramSender(program: settings.program, from: settings.from)
        case .smtp:
            return try ServerSender(
                settings, clock: folder.clock, random: folder.random)
        }
    }

    private func look() {
        do {
            let outcome = try round.run(now: clock.now())
            for failure in outcome.failures {
                log.warning("letter not sent; tried again later", [("failure", .text(failure))])
            }
            if outcome.givenUp > 0 {
                log.error(
                    "letters given up", [("letters", .number(Int64(outcome.givenUp)))])
            }
        } catch {
            log.error("letters not sent", [("failure", .text("\(error)"))])
        }
    }
}
