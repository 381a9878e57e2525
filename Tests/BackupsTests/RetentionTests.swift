import CloudModel
import Testing

@testable import Backups

@Suite("Which backups are kept")
struct RetentionTests {
    private static let minute: Milliseconds = 60_000

    @Test(
        "Of a year of backups every ten minutes, fewer than seventy are kept, and fewer the older they are"
    )
    func year() throws {
        let now: Milliseconds = 1_800_000_000_000
        var kept: Set<Milliseconds> = []
        for step in stride(from: 365 * 144, through: 0, by: -1) {
            let moment = now - Milliseconds(step) * 10 * Self.minute
            kept = Retention.kept(Array(kept) + [moment], now: moment)
            #expect(kept.contains(moment))
        }
        let ages = kept.map { (now - $0) / Self.minute }
        #expect(ages.count { $0 < 60 } == 6)
        #expect((23...25).contains(ages.count { (60..<1_440).contains($0) }))
        #expect((5...7).contains(ages.count { (1_440..<10_080).contains($0) }))
        #expect((3...5).contains(ages.count { (10_080..<50_400).contains($0) }))
        #expect((9...12).contains(ages.count { (50_400...525_600).contains($0) }))
        #expect(ages.allSatisfy { $0 < 525_600 })
    }

    @Test("The last backup is kept however old it is")
    func last() {
        #expect(Retention.kept([5, 7, 6], now: 1_800_000_000_000) == [7])
    }
}
