import CloudModel
import Dispatch
import GroupCommit
import SQLite
import Storage

extension SQLiteStore {
    package func prepareIndexes(
        _ needs: [IndexNeed], ofType type: Int64, waitMillisecondsMax: Int
    ) throws -> IndexProgress? {
        let isThere = needs.allSatisfy { need in
            indexes.ofType(type).contains { $0.need == need && $0.state != .leaving }
        }
        if !isThere {
            try writeAndWait(frees: false) { try $0.makeIndexes(needs, ofType: type) }
        }
        let start = DispatchTime.now().uptimeNanoseconds
        let nanosecondsMax = UInt64(max(0, waitMillisecondsMax)) * 1_000_000
        while true {
            let mark = notices.mark
            guard let through = indexes.unfinished(needs, ofType: type) else { return nil }
            let spent = DispatchTime.now().uptimeNanoseconds &- start
            guard spent < nanosecondsMax,
                waitForIndexes(since: mark, nanoseconds: nanosecondsMax - spent)
            else {
                let last = try read { try $0.indexReader.lastRecord() }
                return IndexProgress(
                    through: through, last: last.value < through.value ? through : last)
            }
        }
    }

    /// - Returns: false when the time was over first.
    private func waitForIndexes(since mark: CommitNotices.Mark, nanoseconds: UInt64) -> Bool {
        let moved = MonotonicSemaphore()
        let watch = notices.watch([.indexes], since: mark)
        defer { watch.end() }
        watch.whenMoved { _ in moved.signal() }
        return moved.wait(nanoseconds: nanoseconds)
    }
}

extension IndexCatalog {
    /// The last record that all of the needed indexes hold; nil once they are whole.
    fileprivate func unfinished(_ needs: [IndexNeed], ofType type: Int64) -> RecordNumber? {
        ofType(type).filter { needs.contains($0.need) && $0.state != .whole }
            .map(\.filledThrough).min { $0.value < $1.value }
    }
}
