import SQLiteStorage
import Storage
import Testing

/// When entries that wait are worth a pass over a large table, and how far its steps go.
@Suite("The pace of merging")
struct MergePaceTests {
    private static func pace(waiting: Int) -> MergePace {
        var pace = MergePace(waitingMax: .max, stepMax: 1_000)
        _ = pace.isEnough(RecordNumber(0), count: { waiting })
        return pace
    }

    private static func isEnough(
        _ waiting: Int, of records: Int64, perRecord: Int = 1, waitingMax: Int = .max
    ) -> Bool {
        var pace = MergePace(waitingMax: waitingMax, stepMax: 1_000)
        return pace.isEnough(RecordNumber(records), perRecord: perRecord, count: { waiting })
    }

    @Test("A pass is worth the root of 2,000 times the records, and 10,000 entries at least")
    func worth() {
        for (records, least) in [(0, 10_000), (10, 10_000), (50_000, 10_000), (250_000, 22_360)] {
            #expect(Self.isEnough(least, of: Int64(records)))
            #expect(!Self.isEnough(least - 1, of: Int64(records)))
        }
        #expect(Self.isEnough(89_442, of: 4_000_000))
        #expect(!Self.isEnough(89_441, of: 4_000_000))
    }

    @Test("A record with more entries makes a pass worth as many times more, up to a limit")
    func perRecord() {
        #expect(!Self.isEnough(22_360 * 5 - 1, of: 250_000, perRecord: 5))
        #expect(Self.isEnough(22_360 * 5, of: 250_000, perRecord: 5))
        #expect(Self.isEnough(200_000, of: 20_000_000, perRecord: 5, waitingMax: 200_000))
        #expect(!Self.isEnough(199_999, of: 20_000_000, perRecord: 5, waitingMax: 200_000))
    }

    @Test("Where what waits costs no pages, a pass is worth a part of the records, within limits")
    func share() {
        func isEnough(_ waiting: Int, of records: Int64) -> Bool {
            var pace = MergePace(waitingMin: 500, waitingMax: 9_000, share: 8, stepMax: 1_000)
            return pace.isEnough(RecordNumber(records), count: { waiting })
        }
        for (records, least) in [(0, 500), (4_000, 500), (40_000, 5_000), (80_000, 9_000)] {
            #expect(isEnough(least, of: Int64(records)))
            #expect(!isEnough(least - 1, of: Int64(records)))
        }
    }

    @Test("Work is due once, until what queued it was undone or the work is done")
    func due() {
        var pace = Self.pace(waiting: 9_999)
        func isDue(counting count: Int = 0) -> Bool {
            pace.isDue(RecordNumber(1_000), count: { count })
        }
        #expect(!isDue())
        pace.add()
        #expect(isDue())
        #expect(!isDue())
        pace.rolledBack()
        #expect(isDue(counting: 10_000))
        pace.isQueued = false
        pace.remove(1)
        #expect(!isDue(counting: 10_000))
        pace.add()
        #expect(isDue())
    }

    @Test("What waits is counted once, and again after it was forgotten or undone")
    func counts() {
        var counted = 0
        var pace = MergePace(waitingMax: .max, stepMax: 1_000)
        func count() -> Int {
            counted += 1
            return 5
        }
        func ask() { _ = pace.isEnough(RecordNumber(1), count: count) }
        for _ in 0..<3 { ask() }
        #expect(counted == 1)
        pace.forget()
        ask()
        #expect(counted == 2)
        pace.rolledBack()
        ask()
        #expect(counted == 3)
    }

    @Test("A step takes what fits, and twice what has come since the last one, within a limit")
    func steps() {
        var pace = MergePace(waitingMax: .max, stepMax: 1_000)
        func step(_ wanted: Int) -> Int { pace.takeStep(wanted) }
        #expect(step(0) == 1)
        #expect(step(64) == 64)
        #expect(step(5_000) == 1_000)
        for _ in 0..<300 { pace.add() }
        #expect(step(64) == 600)
        #expect(step(64) == 64)
        for _ in 0..<700 { pace.add() }
        #expect(step(64) == 1_000)
        // Never less than has come, or else more and more would wait.
        for _ in 0..<2_500 { pace.add() }
        #expect(step(64) == 2_500)
    }
}
