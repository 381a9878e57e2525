import Accounts
import CloudModel
import Configuration
import Dispatch
import Pages
import Storage

/// Sends queued letters while the server runs: those of each kind of address on their own, one after the other.
///
/// Looks every few seconds, at one index, whether one is due: commands queue letters too.
final class LetterCarrier: Sendable {
    private static let secondsBetweenLooks = 2

    private let round: LetterRound
    private let senders: LetterSenders
    private let clock: Clock
    private let log: Log
    private let lanes: [Lane]

    /// What sends the letters of one kind.
    private struct Lane: Sendable {
        let kind: Address.Kind
        let queue: DispatchQueue
        // Dispatch's own objects may be used from any thread; only their Swift class does not say so.
        nonisolated(unsafe) let timer: any DispatchSourceTimer
    }

    /// Begins to look.
    init(
        _ folder: DataFolder, _ senders: LetterSenders, _ books: Phrasebooks,
        _ mark: ServiceMark, log: Log
    ) {
        self.senders = senders
        round = LetterRound(
            catalog: folder.catalog, letters: folder.reception.letters, sender: senders,
            compose: LetterTexts.compose(
                base: folder.configuration.baseURL, books: books, service: mark.name))
        clock = folder.clock
        self.log = log
        lanes = Address.Kind.allCases.map { kind in
            let queue = DispatchQueue(label: "lenticular.letters.\(kind)", qos: .utility)
            return Lane(
                kind: kind, queue: queue, timer: DispatchSource.makeTimerSource(queue: queue))
        }
        for lane in lanes {
            lane.timer.schedule(
                deadline: .now(), repeating: .seconds(Self.secondsBetweenLooks),
                leeway: .milliseconds(200))
            lane.timer.setEventHandler { [weak self] in self?.look(for: lane.kind) }
            lane.timer.activate()
        }
    }

    /// Ends it, and waits for letters that are on their way; text messages fail instead, to be sent later.
    func stop() {
        for lane in lanes { lane.timer.cancel() }
        senders.stop()
        for lane in lanes { lane.queue.sync {} }
    }

    private func look(for kind: Address.Kind) {
        do {
            let outcome = try round.run(to: kind, now: clock.now())
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
