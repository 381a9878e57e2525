import Testing

@testable import GroupCommit

@Suite struct GroupTimeTests {
    private static func nanoseconds(afterCommitsOf milliseconds: UInt64) -> UInt64 {
        var time = GroupTime(milliseconds: 20)
        for _ in 0..<100 { time.committed(nanoseconds: milliseconds * 1_000_000) }
        return time.nanoseconds
    }

    @Test("Groups go on for longer where commits take long, while both stay within the goal")
    func slowDisk() {
        #expect(GroupTime(milliseconds: 20).nanoseconds == 20_000_000)
        #expect(Self.nanoseconds(afterCommitsOf: 1) == 20_000_000)
        #expect(Self.nanoseconds(afterCommitsOf: 10) == 20_000_000)
        #expect((29_000_000...30_000_000).contains(Self.nanoseconds(afterCommitsOf: 15)))
        // From here on the goal of 60 ms leaves less and less.
        #expect((39_000_000...41_000_000).contains(Self.nanoseconds(afterCommitsOf: 20)))
        #expect((30_000_000...31_000_000).contains(Self.nanoseconds(afterCommitsOf: 30)))
        #expect(Self.nanoseconds(afterCommitsOf: 60) == 20_000_000)
        #expect(Self.nanoseconds(afterCommitsOf: 5_000) == 20_000_000)
    }

    @Test("Beside others they go on for a quarter of that, or for as long as a commit")
    func besideOthers() {
        func nanoseconds(afterCommitsOf milliseconds: UInt64) -> UInt64 {
            var time = GroupTime(milliseconds: 20)
            for _ in 0..<100 { time.committed(nanoseconds: milliseconds * 1_000_000) }
            return time.nanosecondsBesideOthers
        }
        #expect(GroupTime(milliseconds: 20).nanosecondsBesideOthers == 5_000_000)
        #expect(nanoseconds(afterCommitsOf: 1) == 5_000_000)
        #expect((9_000_000...10_000_000).contains(nanoseconds(afterCommitsOf: 10)))
        #expect((9_000_000...11_000_000).contains(nanoseconds(afterCommitsOf: 20)))
        #expect(nanoseconds(afterCommitsOf: 60) == 5_000_000)
    }

    @Test("Commits that are quick again soon make groups as short as they were")
    func quickAgain() {
        var time = GroupTime(milliseconds: 20)
        for _ in 0..<100 { time.committed(nanoseconds: 20_000_000) }
        #expect(time.nanoseconds > 39_000_000)
        for _ in 0..<16 { time.committed(nanoseconds: 1_000_000) }
        #expect(time.nanoseconds == 20_000_000)
    }
}
