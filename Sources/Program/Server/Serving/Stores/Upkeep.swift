import Background
import CloudModel
import Dispatch
import Storage

/// Queues in stores, now and then, the work that is due by time: to remove what nobody can ask for any more.
///
/// In open stores it does so each round, in closed ones when they are due. A round also closes what nobody
/// uses, and opens stores whose queued work is due.
final class Upkeep: Sendable {
    /// How many closed stores are opened in a round; further ones wait for the next.
    private static let openedPerRound = 64
    /// How often a process looks whether another has ended.
    private static let othersMilliseconds: Milliseconds = 5_000

    private let stores: Stores
    private let log: Log
    /// What else is due in each round.
    private let alsoDue: @Sendable () -> Void
    private let intervalMilliseconds: Milliseconds
    private let runner: Runner
    // Touched in looks only.
    private nonisolated(unsafe) var isLoaded = false
    /// By the uptime in nanoseconds; nil before the first look.
    private nonisolated(unsafe) var nextRound: UInt64?
    private nonisolated(unsafe) var known = ServingProcesses.sole

    /// `begin` begins the rounds.
    ///
    /// - Parameters:
    ///   - intervalSeconds: how long stores are left alone between two rounds.
    ///   - alsoDue: run at the start of each round; must not block for long.
    init(
        stores: Stores, log: Log, intervalSeconds: Int,
        alsoDue: @escaping @Sendable () -> Void = {}
    ) {
        self.stores = stores
        self.log = log
        self.alsoDue = alsoDue
        intervalMilliseconds = Milliseconds(intervalSeconds) * 1_000
        runner = Runner("lenticular.upkeep")
        runner.use { [weak self] in self?.look() ?? .never }
    }

    /// Opens the stores that a killed server has left open, in the background.
    ///
    /// They may hold what nobody comes to wake, such as changes that nobody has been told of. Called once those who
    /// work on stores are told of openings.
    func begin() { runner.wake() }

    /// Ends the rounds, and waits for one that goes on.
    func stop() { runner.stop() }

    private func look() -> Runner.Next {
        let (before, now) = (known, DispatchTime.now().uptimeNanoseconds)
        known = stores.engine.processes
        let goesOn = Set(known.living.map(\.identity))
        if let nextRound, now >= nextRound {
            round()
        } else if nextRound == nil || !before.living.allSatisfy({ goesOn.contains($0.identity) }) {
            // What a process that has ended left open may hold what nobody else comes to wake.
            isLoaded = false
            loadSchedule()
            open(stores.schedule.leftOpen)
        }
        if nextRound.map({ now >= $0 }) ?? true {
            nextRound = now &+ UInt64(intervalMilliseconds) * 1_000_000
        }
        let others = known.living.isEmpty ? intervalMilliseconds : Self.othersMilliseconds
        return .later(milliseconds: min(intervalMilliseconds, others))
    }

    /// Queues what is due; used in a look, or before the runner starts.
    func round() {
        alsoDue()
        stores.forEachOpen { key, store in queueUpkeep(of: key, store) }
        stores.closeIdle()
        // Other processes close stores, too, and say then when they are due.
        if !known.living.isEmpty { isLoaded = false }
        loadSchedule()
        if stores.engine.processes.leads {
            open(stores.schedule.dueNow(limit: Self.openedPerRound))
        }
        stores.schedule.save()
        examineMore()
    }

    private func open(_ keys: [Stores.Key]) {
        for key in keys {
            guard !runner.isStopped else { return }
            openDue(key)
        }
    }

    private func queueUpkeep(of key: Stores.Key, _ store: any Store) {
        do {
            try store.writeAndWait(caller: .background) { transaction in
                try transaction.enqueue(.collect)
                try transaction.enqueue(.collectAssets)
            }
            stores.schedule.upkeepQueued(key)
        } catch {
            log.warning("upkeep not queued", [("failure", .text("\(error)"))])
        }
    }

    private func loadSchedule() {
        guard !isLoaded else { return }
        do {
            try stores.loadSchedule()
            isLoaded = true
        } catch {
            log.warning("the catalog does not say what is due", [("failure", .text("\(error)"))])
        }
    }

    private func openDue(_ key: Stores.Key) {
        do {
            queueUpkeep(of: key, try stores.openDue(key))
        } catch StorageFailure.unavailable(.moved) {
            // It stays closed until an operator opens it again.
            stores.schedule.postpone(key)
        } catch {
            stores.schedule.postpone(key)
            log.warning(
                "a store that is due could not be opened",
                [
                    ("container", .text(key.container.name)),
                    ("environment", .text(key.environment.rawValue)),
                    ("failure", .text("\(error)")),
                ])
        }
    }

    private func examineMore() {
        do {
            let (missing, failures) = try stores.search.examineMore()
            for key in missing { log.tellMissing(key) }
            for failure in failures {
                log.error("a store cannot be opened", [("failure", .text("\(failure)"))])
            }
        } catch {
            log.warning("stores not looked into", [("failure", .text("\(error)"))])
        }
    }
}
