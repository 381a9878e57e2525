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
    private let senders: LetterSenders
    private let clock: Clock
    private let log: Log
    private let queue = DispatchQueue(label: "lenticular.letters", qos: .utility)
    // Dispatch's own objects may be used from any thread; only their Swift class does not say so.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    /// Begins to look.
    init(
        _ folder: DataFolder, _ senders: LetterSenders, _ books: Phrasebooks, log: Log
    ) {
        self.senders = senders
        round = LetterRound(
            catalog: folder.catalog, letters: folder.reception.letters, sender: senders,
            compose: LetterTexts.compose(base: folder.configuration.baseURL, books: books))
        clock = folder.clock
        self.log = log
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(
            deadline: .now(), repeating: .seconds(Self.secondsBetweenLooks),
            leeway: .milliseconds(200))
        timer.setEventHandler { [weak self] in self?.look() }
        timer.activate()
    }

    /// Ends it, and waits for a letter that is on its way; a text message fails instead, to be sent later.
    func stop() {
        timer.cancel()
        senders.stop()
        queue.sync {}
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
