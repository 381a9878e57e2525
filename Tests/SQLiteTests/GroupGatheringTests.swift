import Dispatch
import Testing

@testable import SQLite

@Suite struct GroupGatheringTests {
    @Test("A lone submitter never waits, and nobody does before the first commit")
    func alone() {
        var gathering = GroupGathering()
        #expect(gathering.wait(waiting: 1) == nil)
        for _ in 0..<20 { gathering.committed(jobs: 1, waiting: 0, nanoseconds: 10_000_000) }
        #expect(gathering.wait(waiting: 1) == nil)
        #expect(gathering.wait(waiting: 0) == nil)
    }

    @Test("A slow commit's half waits for the other one, for no more than a part of a commit")
    func halves() throws {
        var gathering = GroupGathering()
        for _ in 0..<100 { gathering.committed(jobs: 32, waiting: 32, nanoseconds: 8_000_000) }
        let found = gathering.wait(waiting: 32)
        let wait = try #require(found)
        #expect(wait.jobs == 64)
        #expect((1_900_000...2_000_000).contains(wait.nanoseconds))
        #expect(gathering.wait(waiting: 64) == nil, "all are there")
        for _ in 0..<100 { gathering.committed(jobs: 32, waiting: 32, nanoseconds: 90_000_000) }
        #expect(gathering.wait(waiting: 32)?.nanoseconds == 5_000_000)
    }

    @Test("A fast commit is not waited for")
    func fast() {
        var gathering = GroupGathering()
        for _ in 0..<100 { gathering.committed(jobs: 32, waiting: 32, nanoseconds: 500_000) }
        #expect(gathering.wait(waiting: 32) == nil)
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
        #expect(gathering.wait(waiting: 1) != nil)
    }
}
