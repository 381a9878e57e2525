import Dispatch
import Testing

@testable import GroupCommit

@Suite struct GroupGatheringTests {
    @Test("A lone submitter never waits, and nobody does before the first commit")
    func alone() {
        var gathering = GroupGathering()
        let first = gathering.wait(waiting: 1)
        #expect(first == nil)
        for _ in 0..<20 { gathering.committed(jobs: 1, waiting: 0, nanoseconds: 10_000_000) }
        let lone = gathering.wait(waiting: 1)
        #expect(lone == nil)
        let none = gathering.wait(waiting: 0)
        #expect(none == nil)
    }

    @Test("A slow commit's half waits for the other one, for no more than a part of a commit")
    func halves() {
        var gathering = GroupGathering()
        for _ in 0..<100 { gathering.committed(jobs: 32, waiting: 32, nanoseconds: 8_000_000) }
        let wait = gathering.wait(waiting: 32)
        #expect(wait?.jobs == 64)
        #expect((1_900_000...2_000_000).contains(wait?.nanoseconds ?? 0))
        let all = gathering.wait(waiting: 64)
        #expect(all == nil)
        for _ in 0..<100 { gathering.committed(jobs: 32, waiting: 32, nanoseconds: 90_000_000) }
        let longest = gathering.wait(waiting: 32)?.nanoseconds
        #expect(longest == 5_000_000)
    }

    @Test("A fast commit is not waited for")
    func fast() {
        var gathering = GroupGathering()
        for _ in 0..<100 { gathering.committed(jobs: 32, waiting: 32, nanoseconds: 500_000) }
        let wait = gathering.wait(waiting: 32)
        #expect(wait == nil)
    }

    @Test("Waits in vain become rarer, and one that pays brings them back")
    func inVain() {
        var gathering = GroupGathering()
        for _ in 0..<100 { gathering.committed(jobs: 8, waiting: 0, nanoseconds: 8_000_000) }
        var waits = 0
        for _ in 0..<1_000 where gathering.wait(waiting: 1) != nil {
            waits += 1
            gathering.waited(from: 1, to: 2)
        }
        #expect((5...25).contains(waits))
        while gathering.wait(waiting: 1) == nil {}
        gathering.waited(from: 1, to: 8)
        let again = gathering.wait(waiting: 1)
        #expect(again != nil)
    }
}
