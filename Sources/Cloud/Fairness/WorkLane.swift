import CloudModel

/// The work of one kind, and how it is shared out.
///
/// This is start-time fair queueing on measured time. Each principal has a queue, first come, first served. It
/// also has a mark, which grows by the nanoseconds that its work has held threads. Among the principals whose
/// work waits, the one with the lowest mark is next. A new owner begins at the mark of the work last begun. So
/// nobody saves up time by waiting, and nobody is rid of what they used by leaving for a moment. A principal
/// has half of the threads at most.
struct WorkLane<Principal: Hashable & Sendable> {
    final class Item: @unchecked Sendable {
        // Unchecked: what changes is touched under the pool's lock.
        let stop: StopSignal
        let body: @Sendable () -> Void
        /// Called in place of the body when it is not to begin.
        let drop: @Sendable () -> Void
        fileprivate(set) var account: Account
        /// Which thread does it.
        fileprivate(set) var thread: Int32 = 0
        fileprivate(set) var startedAt: UInt64 = 0
        /// What was put on the principal's mark when it began, before anybody knew.
        fileprivate var estimate: UInt64 = 0
        /// Whether it has left the lane it began in, whose thread went with it.
        var isMoved = false

        init(
            _ account: Account, stop: StopSignal,
            body: @escaping @Sendable () -> Void, drop: @escaping @Sendable () -> Void
        ) {
            self.account = account
            self.stop = stop
            self.body = body
            self.drop = drop
        }
    }

    /// What one principal has waiting, and has used.
    final class Account {
        let principal: Principal
        var mark: UInt64
        var running = 0
        /// What its work takes as a rule, in nanoseconds.
        var usual: UInt64 = 20_000
        private var items: [Item?] = []
        private var head = 0
        /// Its place among those whose work waits.
        var heapIndex: Int?

        init(_ principal: Principal, mark: UInt64) {
            self.principal = principal
            self.mark = mark
        }

        var waitingCount: Int { items.count - head }

        func append(_ item: Item) { items.append(item) }

        func removeFirst() -> Item? {
            guard head < items.count else { return nil }
            let item = items[head]
            items[head] = nil
            head += 1
            if head == items.count {
                items.removeAll(keepingCapacity: items.count <= 16)
                head = 0
            }
            return item
        }
    }

    let threadsMax: Int
    /// Of one principal.
    let runningMax: Int
    private(set) var waitingCount = 0
    private(set) var running: [ObjectIdentifier: Item] = [:]
    private var accounts: [Principal: Account] = [:]
    /// The principals whose work waits.
    private var waiting: [Account] = []
    private var mark: UInt64 = 0
    private var sweepAt = 256

    init(threadsMax: Int) {
        self.threadsMax = threadsMax
        runningMax = max(1, threadsMax / 2)
    }

    /// How much of a principal's work waits.
    func waitingCount(of principal: Principal) -> Int { accounts[principal]?.waitingCount ?? 0 }

    var hasFreeThread: Bool { running.count < threadsMax }

    mutating func append(
        for principal: Principal, stop: StopSignal,
        body: @escaping @Sendable () -> Void, drop: @escaping @Sendable () -> Void
    ) {
        let account = account(of: principal)
        account.append(Item(account, stop: stop, body: body, drop: drop))
        waitingCount += 1
        guard account.heapIndex == nil else { return }
        if account.running == 0 { account.mark = max(account.mark, mark) }
        account.heapIndex = waiting.count
        waiting.append(account)
    }

    /// Takes the next work to do and counts it as begun; nil when none may begin now.
    ///
    /// - Parameter dropped: what was found to be abandoned on the way.
    mutating func takeNext(by thread: Int32, now: UInt64, dropped: inout [Item]) -> Item? {
        while hasFreeThread {
            var next: Account?
            for account in waiting where account.running < runningMax {
                if account.mark < next?.mark ?? .max { next = account }
            }
            guard let next, let item = next.removeFirst() else { return nil }
            waitingCount -= 1
            if next.waitingCount == 0 { leave(next) }
            if item.stop.isAbandoned {
                dropped.append(item)
                continue
            }
            mark = max(mark, next.mark)
            item.estimate = next.usual
            next.mark &+= next.usual
            item.thread = thread
            begin(item, now: now)
            return item
        }
        return nil
    }

    /// Whether work that has begun in another lane may go on in this one.
    func hasRoom(for item: Item) -> Bool {
        hasFreeThread && accounts[item.account.principal]?.running ?? 0 < runningMax
    }

    /// Takes over work that has begun in another lane.
    mutating func adopt(_ item: Item, now: UInt64) {
        let account = account(of: item.account.principal)
        if account.running == 0, account.heapIndex == nil { account.mark = max(account.mark, mark) }
        item.account = account
        item.estimate = 0
        item.isMoved = true
        begin(item, now: now)
    }

    /// Takes all that waits.
    mutating func removeWaiting() -> [Item] {
        var items: [Item] = []
        for account in waiting {
            while let item = account.removeFirst() { items.append(item) }
            account.heapIndex = nil
        }
        waiting = []
        waitingCount = 0
        return items
    }

    private mutating func begin(_ item: Item, now: UInt64) {
        item.startedAt = now
        item.account.running += 1
        running[ObjectIdentifier(item)] = item
    }

    /// Work has ended, or goes on in another lane, and is charged for.
    mutating func end(_ item: Item, now: UInt64) {
        running[ObjectIdentifier(item)] = nil
        let account = item.account
        account.running -= 1
        let used = now &- item.startedAt
        account.mark = account.mark &- item.estimate &+ used
        account.usual = max(1_000, account.usual - account.usual / 8 + used / 8)
        if running.isEmpty, waiting.isEmpty {
            // What somebody used while nobody else wanted it does not count against them.
            accounts.removeAll(keepingCapacity: accounts.count < 256)
            mark = 0
        } else if accounts.count > sweepAt {
            let mark = mark
            accounts = accounts.filter {
                $0.value.running > 0 || $0.value.heapIndex != nil || $0.value.mark > mark
            }
            sweepAt = max(256, accounts.count * 2)
        }
    }

    private mutating func account(of principal: Principal) -> Account {
        if let known = accounts[principal] { return known }
        let made = Account(principal, mark: mark)
        accounts[principal] = made
        return made
    }

    private mutating func leave(_ account: Account) {
        guard let heapIndex = account.heapIndex else { return }
        account.heapIndex = nil
        let last = waiting.removeLast()
        guard heapIndex < waiting.count else { return }
        waiting[heapIndex] = last
        last.heapIndex = heapIndex
    }
}
