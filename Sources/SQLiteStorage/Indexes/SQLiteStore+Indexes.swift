import CloudModel
import Dispatch
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
            let seen = indexes
            guard let through = seen.unfinished(needs, ofType: type) else { return nil }
            let spent = DispatchTime.now().uptimeNanoseconds &- start
            guard spent < nanosecondsMax,
                waitForIndexes(otherThan: seen, nanoseconds: nanosecondsMax - spent)
            else {
                let last = try read { try $0.indexReader.lastRecord() }
                return IndexProgress(
                    through: through, last: last.value < through.value ? through : last)
            }
        }
    }
}

extension IndexCatalog {
    /// The last record that all of the needed indexes hold; nil once they are whole.
    fileprivate func unfinished(_ needs: [IndexNeed], ofType type: Int64) -> RecordNumber? {
        ofType(type).filter { needs.contains($0.need) && $0.state != .whole }
            .map(\.filledThrough).min { $0.value < $1.value }
    }
}
