import Storage

/// The numbers by which rows of the queue name what is to be done, what an engine leaves for itself included.
package struct WorkNumbers: Sendable {
    private static let kinds: [(number: Int64, kind: WorkKind)] = [
        (1, .cover), (2, .deleteSources), (4, .collect), (5, .collectAssets), (6, .tellRequests),
    ]

    private let maintenance: [(number: Int64, maintenance: Maintenance)]

    /// - Parameter maintenance: what the engine leaves for itself, in the order of the numbers.
    package init(_ maintenance: [(number: Int64, maintenance: Maintenance)]) {
        self.maintenance = maintenance
    }

    /// The numbers of some kinds; nil for all.
    package func all(of kinds: [WorkKind]?) -> [Int64] {
        guard let kinds else {
            return Self.kinds.map(\.number) + maintenance.map(\.number)
        }
        return kinds.flatMap(numbers)
    }

    private func numbers(of kind: WorkKind) -> [Int64] {
        Self.kinds.filter { $0.kind == kind }.map(\.number)
            + maintenance.filter { $0.maintenance.kind == kind }.map(\.number)
    }

    /// - Throws: `BrokenInvariant` for what the engine does not leave for itself.
    package func number(of task: WorkTask) throws -> Int64 {
        let found =
            if case .maintenance(let task) = task {
                maintenance.first { $0.maintenance == task }?.number
            } else {
                numbers(of: task.kind).first
            }
        guard let found else {
            throw BrokenInvariant("work is of the kinds that the engine knows: \(task.word)")
        }
        return found
    }

    /// What a row says is to be done.
    ///
    /// - Throws: `InvalidRow`.
    package func task(_ number: Int64, _ row: WorkRow) throws -> WorkTask {
        if let own = maintenance.first(where: { $0.number == number }) {
            return .maintenance(own.maintenance)
        }
        guard let kind = Self.kinds.first(where: { $0.number == number })?.kind,
            let task = row.task(of: kind)
        else { throw InvalidRow(table: "work") }
        return task
    }

    /// The next work whose turn it is.
    ///
    /// Where nothing is found, it has asked all that it ever asks of such a turn, in the order in which it asks.
    ///
    /// - Parameters:
    ///   - turn: moves on to the work that is taken.
    ///   - take: the first work with a number whose subject comes after one, and that is due.
    @discardableResult
    package func next(
        _ turn: inout WorkTurn,
        _ take: (_ number: Int64, _ afterSubject: Int64) throws -> (subject: Int64, StoredWork)?
    ) rethrows -> StoredWork? {
        for step in 0..<turn.kinds.count {
            let index = (turn.next + step) % turn.kinds.count
            let kind = turn.kinds[index]
            // Subjects after the last one, then all from the first on.
            let last = turn.subjects[kind] ?? .min
            let found =
                try first(of: kind, after: last, take)
                ?? (last == .min ? nil : first(of: kind, after: .min, take))
            guard let (subject, work) = found else { continue }
            turn.next = index
            turn.subjects[kind] = subject
            return work
        }
        return nil
    }

    /// What an engine leaves for itself has no subjects: its numbers take turns as subjects do.
    private func first(
        of kind: WorkKind, after last: Int64,
        _ take: (_ number: Int64, _ afterSubject: Int64) throws -> (subject: Int64, StoredWork)?
    ) rethrows -> (subject: Int64, StoredWork)? {
        let numbers = numbers(of: kind)
        guard kind == .maintenance || kind == .maintenanceBeside else {
            return try numbers.first.flatMap { try take($0, last) }
        }
        for number in numbers where number > last {
            if let (_, work) = try take(number, .min) { return (number, work) }
        }
        return nil
    }
}
