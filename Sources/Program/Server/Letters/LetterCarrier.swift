import Accounts
import Background
import CloudModel
import Configuration
import Pages
import Storage

/// Sends queued letters while the server runs: those of each kind of address on their own, one after the other.
///
/// Looks every few seconds, at one index, whether one is due: commands queue letters too.
final class LetterCarrier: Sendable {
    private static let millisecondsBetweenLooks: Milliseconds = 2_000

    private let round: LetterRound
    private let senders: LetterSenders
    private let engine: any StorageEngine
    private let clock: Clock
    private let log: Log
    private let runners: [Runner]

    /// Begins to look.
    init(
        _ folder: DataFolder, _ senders: LetterSenders, _ books: Phrasebooks,
        _ mark: ServiceMark, log: Log
    ) {
        self.senders = senders
        round = LetterRound(
            catalog: folder.catalog, letters: folder.accountUseCases.letters, sender: senders,
            compose: LetterTexts.compose(
                base: folder.configuration.baseURL, books: books, service: mark.name))
        (clock, engine) = (folder.clock, folder.engine)
        self.log = log
        runners = Address.Kind.allCases.map { kind in
            Runner("lenticular.letters.\(kind)") { error in
                log.error("letters not sent", [("failure", .text("\(error)"))])
            }
        }
        for (kind, runner) in zip(Address.Kind.allCases, runners) {
            runner.use { [weak self] in try self?.look(for: kind) ?? .never }
            runner.wake()
        }
    }

    /// Ends it, and waits for letters that are on their way; text messages fail instead, to be sent later.
    func stop() {
        for runner in runners { runner.goOn(.never) }
        senders.stop()
        for runner in runners { runner.stop() }
    }

    private func look(for kind: Address.Kind) throws -> Runner.Next {
        let next = Runner.Next.later(milliseconds: Self.millisecondsBetweenLooks)
        guard let lease = engine.processes.lead else { return next }
        let outcome: LetterRound.Outcome
        do { outcome = try round.run(to: kind, now: clock.now(), by: lease) } catch is StoreLease
            .Lost
        { return next }
        for failure in outcome.failures {
            log.warning("letter not sent; tried again later", [("failure", .text(failure))])
        }
        if outcome.givenUp > 0 {
            log.error("letters given up", [("letters", .number(Int64(outcome.givenUp)))])
        }
        return next
    }
}
