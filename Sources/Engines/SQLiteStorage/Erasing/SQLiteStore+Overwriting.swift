import Dispatch
import Platform
import SQLite
import Storage
import StoredRows

extension SQLiteStore {
    /// Overwrites what was deleted before, wherever the store's files have kept it.
    ///
    /// A connection overwrites what it deletes. So this removes copies from before an upgrade, takes out of indexes
    /// the entries that wait for it, merges words of previous segments away and empties the log, in steps of some
    /// milliseconds between the writes of others.
    ///
    /// - Throws: `OverwritingEnded`; `StorageFailure`, `SQLiteError`. Then it is to be begun again.
    func overwriteDeleted(while goesOn: @Sendable () -> Bool) throws {
        try overwriting.withLock { _ in
            try Migrator.removeCopies(of: path)
            try orderAllEntries(goesOn)
            try mergeWords(goesOn)
            try emptyLog(goesOn)
        }
    }

    /// Has every entry that waits now brought into order, and those taken out that have gone.
    private func orderAllEntries(_ goesOn: @Sendable () -> Bool) throws {
        // The first pass may be one that is under way, and has gone past some; a group that is undone may leave
        // some out of the second.
        try inSteps(from: 3, OverwritingPace(first: 64, most: 8_192), goesOn) {
            transaction, passes, amount in
            try transaction.orderSomeEntries(amount) ? passes : passes - 1
        } isDone: {
            $0 == 0
        }
    }

    private func mergeWords(_ goesOn: @Sendable () -> Bool) throws {
        let merge = try written { try WordMerge($0.connection) }
        try inSteps(from: merge, OverwritingPace(first: 1, most: 256), goesOn) {
            transaction, merge, amount in
            try merge.stepped(transaction.connection, pagesMax: amount)
        } isDone: {
            $0.isDone
        }
    }

    /// Readers that began before may need what the log has: they are waited for.
    private func emptyLog(_ goesOn: @Sendable () -> Bool) throws {
        while try !emptyLogOnce() {
            guard goesOn() else { throw OverwritingEnded() }
            usleep(Self.readerMicroseconds)
        }
    }

    /// How long readers are left alone between two attempts to empty the log.
    private static let readerMicroseconds: UInt32 = 50_000

    /// Does steps until they are done, each a transaction; while others write, it pauses after each for as long.
    ///
    /// - Parameter step: leads from what the step before has come to, to what it comes to itself; may be run again.
    func inSteps<Progress: Sendable>(
        from first: Progress, _ firstPace: OverwritingPace, _ goesOn: () -> Bool,
        _ step: @escaping @Sendable (SQLiteTransaction, Progress, Int) throws -> Progress,
        isDone: (Progress) -> Bool
    ) throws {
        var (progress, pace) = (first, firstPace)
        while !isDone(progress) {
            guard goesOn() else { throw OverwritingEnded() }
            let (known, amount, before) = (progress, pace.amount, notices.writeCount)
            let start = DispatchTime.now().uptimeNanoseconds
            let (next, took) = try written { transaction in
                let start = DispatchTime.now().uptimeNanoseconds
                let next = try step(transaction, known, amount)
                return (next, DispatchTime.now().uptimeNanoseconds &- start)
            }
            progress = next
            let isAlone = notices.writeCount &- before <= 1
            pace.took(nanoseconds: took, isAlone: isAlone)
            if !isAlone {
                let whole = DispatchTime.now().uptimeNanoseconds &- start
                usleep(UInt32(clamping: whole / 1_000))
            }
        }
    }

    private func written<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) throws -> Value {
        try writeAndWait(frees: true, caller: .background) { transaction in
            guard let transaction = transaction as? SQLiteTransaction else {
                throw InvalidRow(table: "fields")
            }
            return try body(transaction)
        }
    }
}

extension SQLiteTransaction {
    /// Brings some of the entries of indexes that wait into order.
    ///
    /// - Returns: whether the pass over them goes on.
    func orderSomeEntries(_ count: Int) throws -> Bool {
        let values = try group.preparedIndexWriter(connection).values
        try values.finish()
        try values.step(entriesMax: count)
        return values.isPassing
    }
}
