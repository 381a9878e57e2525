import Dispatch
import SQLiteStorage
import Storage

/// Queues in every open store, now and then, the work that is due by time: to remove what nobody can ask
/// for any more.
final class Upkeep: Sendable {
    private let stores: Stores
    private let log: Log
    /// What else is due in each round.
    private let alsoDue: @Sendable () -> Void
    private let queue = DispatchQueue(label: "lenticular.upkeep", qos: .utility)
    // Dispatch's own objects may be used from any thread; only their Swift class does not say so.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    /// Begins the rounds.
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
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(
            deadline: .now() + .seconds(intervalSeconds), repeating: .seconds(intervalSeconds),
            leeway: .seconds(5))
        timer.setEventHandler { [weak self] in self?.round() }
        timer.activate()
    }

    /// Ends the rounds, and waits for one that goes on.
    func stop() {
        timer.cancel()
        queue.sync {}
    }

    /// Queues what is due; on the queue, or before anybody else uses it.
    func round() {
        alsoDue()
        for store in stores.open {
            do {
                try store.writeAndWait(caller: .background) { transaction in
                    try transaction.enqueue(.collect)
                    try transaction.enqueue(.collectAssets)
                }
            } catch {
                log.warning("upkeep not queued", [("failure", .text("\(error)"))])
            }
        }
    }
}
