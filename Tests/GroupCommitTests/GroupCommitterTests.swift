import Dispatch
import Synchronization
import Testing

@testable import GroupCommit

/// A committer of a list, with a way to hold its queue.
private struct Bench {
    let engine = ListEngine()
    let committer: GroupCommitter

    struct Broken: Error {}

    init(fullProbeSeconds: Double = 0) {
        var options = GroupOptions()
        options.fullProbeSeconds = fullProbeSeconds
        // A group ends by what it holds: not by the time that a busy machine takes for it.
        options.millisecondsMax = 600_000
        committer = GroupCommitter(engine, options: options) { _ in }
    }

    /// Hands in jobs while the queue is held, so that they are one group, and waits for their ends.
    ///
    /// - Parameter jobs: each by what it writes; one that ends with "!" fails once it has written.
    func group(_ jobs: [String], frees: Bool = false) throws -> [String] {
        let gate = DispatchSemaphore(value: 0)
        let done = DispatchGroup()
        let ends = Mutex<[String]>([])
        committer.betweenGroups { gate.wait() }
        for text in jobs {
            done.enter()
            committer.submit(
                frees: frees,
                { [engine] in
                    try engine.append(text)
                    if text.hasSuffix("!") { throw Broken() }
                },
                completion: { result in
                    let end =
                        switch result {
                        case .success: "\(text) is in \(engine.committed)"
                        case .failure(let error): "\(text): \(error)"
                        }
                    ends.withLock { $0.append(end) }
                    done.leave()
                })
        }
        gate.signal()
        try #require(done.wait(timeout: .now() + 60) == .success)
        return ends.withLock { $0 }
    }
}

@Suite("Any engine's transactions, one for all that waits")
struct GroupCommitterTests {
    @Test("An engine begins, runs and commits; everybody is told after the commit")
    func oneCommit() throws {
        let bench = Bench()
        let ends = try bench.group(["a", "b"])
        bench.committer.close()
        #expect(ends == [#"a is in ["a", "b"]"#, #"b is in ["a", "b"]"#])
        #expect(
            bench.engine.calls == ["begin", "run", "run", "prepare", "commit", "told", "close"])
    }

    @Test("A job that fails once it has written fails alone, in a second run of its group")
    func failsAlone() throws {
        let bench = Bench()
        let ends = try bench.group(["a", "b!", "c"])
        bench.committer.close()
        #expect(
            ends == [#"a is in ["a", "c"]"#, "b!: Broken()", #"c is in ["a", "c"]"#])
        #expect(
            bench.engine.calls == [
                "begin", "run", "run", "roll back", "begin", "run alone", "run alone", "run alone",
                "prepare", "commit", "told", "close",
            ])
        #expect(bench.committer.measurements.jobRollbacks == 1)
    }

    @Test("While there is no room, only what makes room is run, until the engine has room again")
    func full() throws {
        let bench = Bench()
        bench.engine.state.withLock { $0.room = 0 }
        #expect(try bench.group(["a"]) == ["a: Full()"])
        #expect(bench.committer.isFull)
        #expect(try bench.group(["b"]) == ["b: Refused()"])
        bench.engine.state.withLock { $0.room = 10 }
        #expect(try bench.group(["c"]) == [#"c is in ["c"]"#])
        #expect(!bench.committer.isFull)
        #expect(bench.committer.measurements.refusedWhileFull == 1)
    }

    @Test("After a commit whose outcome nobody knows, nothing is taken any more")
    func indeterminate() throws {
        let bench = Bench()
        bench.engine.state.withLock { $0.nextEnd = .indeterminate(Bench.Broken()) }
        #expect(try bench.group(["a"]) == ["a: indeterminate"])
        #expect(try bench.group(["b"]) == ["b: closed"])
        #expect(bench.committer.measurements.isFailed)
        #expect(bench.engine.calls.last == "failed")
    }
}
