import Dispatch
import Seeding
import Synchronization
import Testing

@testable import GroupCommit

@Suite("Groups of the writer, filled fairly")
struct FairBacklogTests {
    private static let bounds = FairBacklog.Bounds(cost: 1_024, bytes: 4_194_304)

    /// A job that can be told from others by when it was submitted.
    private static func job(
        _ number: UInt64, of caller: UInt64, cost: Int = 1, bytes: Int = 0
    ) -> PendingJob {
        PendingJob(cost: cost, bytes: bytes, caller: caller, submittedAt: number)
    }

    private static func backlog(_ jobs: [PendingJob]) -> FairBacklog {
        var jobs = jobs
        var backlog = FairBacklog()
        backlog.add(&jobs)
        return backlog
    }

    @Test("What fits into one group is taken as it came")
    func arrival() {
        var backlog = Self.backlog((0..<10).map { Self.job($0, of: 100 + $0 % 3, bytes: 100_000) })
        let group = backlog.takeGroup(Self.bounds)
        #expect(group.map(\.submittedAt) == Array(0..<10))
        #expect(backlog.isEmpty)
        #expect(backlog.takeGroup(Self.bounds).isEmpty)
    }

    @Test("A single save goes with the next group, however many large batches came before it")
    func single() {
        let batches = (0..<64).map { Self.job($0, of: 100, cost: 200, bytes: 1_000_000) }
        var backlog = Self.backlog(batches + [Self.job(64, of: 200, bytes: 500)])
        let group = backlog.takeGroup(Self.bounds)
        #expect(group.contains { $0.caller == 200 })
        #expect(group.reduce(0) { $0 + $1.bytes } <= Self.bounds.bytes)
        #expect(backlog.count == 65 - group.count)
    }

    @Test("Callers use the writer alike, whatever size their jobs have, and each in its own order")
    func alike() {
        var random = SeededRandom("fair groups")
        var jobs: [PendingJob] = []
        for number in 0..<4_000 {
            let caller = UInt64.random(in: 100...103, using: &random)
            // The higher the number, the larger the jobs.
            let bytes = [100, 5_000, 60_000, 900_000][Int(caller - 100)]
            jobs.append(Self.job(UInt64(number), of: caller, cost: 10, bytes: bytes))
        }
        var backlog = Self.backlog(jobs)
        var used: [UInt64: Int] = [:]
        var seen: [UInt64: [UInt64]] = [:]
        // While all of them have something waiting.
        for _ in 0..<12 {
            for job in backlog.takeGroup(Self.bounds) {
                used[job.caller, default: 0] += job.bytes + job.cost * 1_024
                seen[job.caller, default: []].append(job.submittedAt)
            }
        }
        let even = used.values.reduce(0, +) / 4
        for caller in UInt64(100)...103 {
            #expect(seen[caller] == seen[caller]?.sorted())
            // By the order of arrival one of them would have 13 of 14 parts of it all.
            #expect(abs((used[caller] ?? 0) - even) <= 2 * 910_240, "\(caller): \(used)")
        }
        var rest = 0
        while !backlog.isEmpty { rest += backlog.takeGroup(Self.bounds).count }
        #expect(rest + seen.values.reduce(0) { $0 + $1.count } == 4_000)
    }

    @Test("A job that is larger than a group goes alone, and is not passed over for ever")
    func large() {
        let large = Self.job(0, of: 100, cost: 1, bytes: 9_000_000)
        var backlog = Self.backlog([large])
        var number: UInt64 = 1
        var groups = 0
        while true {
            var more = (0..<40).map { _ in
                number += 1
                return Self.job(number, of: 100 + number % 7 + 1, cost: 100, bytes: 200_000)
            }
            backlog.add(&more)
            groups += 1
            let group = backlog.takeGroup(Self.bounds)
            guard group.contains(where: { $0 === large }) else { continue }
            #expect(group.count == 1)
            break
        }
        // An eighth of each group is the caller's part: it takes 18 of them to earn 9 MB.
        #expect((10...30).contains(groups))
    }

    @Test("What a group had no time for comes first in the next, in its order")
    func putBack() {
        var backlog = Self.backlog((0..<6).map { Self.job($0, of: 100 + $0 % 2) })
        let group = backlog.takeGroup(Self.bounds)
        backlog.putBack(group[2...])
        #expect(backlog.count == 4)
        var later = [Self.job(6, of: 100)]
        backlog.add(&later)
        let next = backlog.takeGroup(Self.bounds)
        #expect(next.filter { $0.caller == 100 }.map(\.submittedAt) == [2, 4, 6])
        #expect(next.filter { $0.caller == 101 }.map(\.submittedAt) == [3, 5])
    }

    @Test("A save comes before the second large batch of another caller, while there is time")
    func turns() {
        var jobs = (0..<4).map { Self.job($0, of: 100, cost: 200, bytes: 50_000) }
        jobs.append(Self.job(4, of: 200, bytes: 500))
        var backlog = Self.backlog(jobs)
        let group = backlog.takeGroup(Self.bounds)
        #expect(group.map(\.submittedAt) == [0, 4, 1, 2, 3])
        // What there was no time for keeps its place before what comes later.
        backlog.putBack(group[2...])
        var later = [Self.job(5, of: 200, bytes: 500)]
        backlog.add(&later)
        #expect(backlog.takeGroup(Self.bounds).map(\.submittedAt) == [1, 5, 2, 3])
    }

    @Test(
        "A caller has no more waiting than their part, and all have no more than there is room for")
    func admission() {
        var admission = WriterAdmission(jobsMax: 80, bytesMax: 8_000)
        for number in 0..<10 {
            #expect(admission.admit(Self.job(UInt64(number), of: 100)) == nil)
        }
        #expect(admission.admit(Self.job(10, of: 100)) == .tooManyOfCaller)
        #expect(admission.admit(Self.job(11, of: 101, bytes: 900)) == nil)
        #expect(admission.admit(Self.job(12, of: 101, bytes: 200)) == .tooManyOfCaller)
        #expect(admission.admit(Self.job(13, of: 102, bytes: 5_000)) == nil)
        #expect(admission.admit(Self.job(14, of: 103, bytes: 5_000)) == .tooManyWaiting)
        admission.finished([Self.job(13, of: 102, bytes: 5_000)])
        #expect(admission.admit(Self.job(15, of: 103, bytes: 5_000)) == nil)
        for number in 16..<84 {
            #expect(admission.admit(Self.job(UInt64(number), of: UInt64(200 + number))) == nil)
        }
        #expect(admission.jobs == 80)
        #expect(admission.admit(Self.job(90, of: 300)) == .tooManyWaiting)
        #expect(admission.admit(Self.job(91, of: PendingJob.background)) == nil)
    }

    @Test("A job that ends twice ends a debug build")
    func endsTwice() async {
        var looksAtAssertions = false
        assert(
            {
                looksAtAssertions = true
                return true
            }())
        guard looksAtAssertions else { return }
        await #expect(processExitsWith: .failure) {
            var admission = WriterAdmission(jobsMax: 80, bytesMax: 8_000)
            let job = FairBacklogTests.job(1, of: 100)
            _ = admission.admit(job)
            admission.finished([job])
            admission.finished([job])
        }
    }

    @Test("What has ended counts towards nobody, in whatever order it ends")
    func atRest() {
        var random = SystemRandomNumberGenerator()
        var admission = WriterAdmission(jobsMax: 80, bytesMax: 8_000)
        for _ in 0..<3 {
            var jobs: [PendingJob] = []
            for number in 0..<200 {
                let job = Self.job(UInt64(number), of: UInt64(100 + number % 20), bytes: number)
                if admission.admit(job) == nil { jobs.append(job) }
            }
            #expect(jobs.count == admission.jobs && jobs.count > 20 && !admission.isAtRest)
            jobs.shuffle(using: &random)
            admission.finished(jobs[..<7])
            #expect(!admission.isAtRest)
            admission.finished(jobs[7...])
            #expect(admission.isAtRest)
        }
    }
}
