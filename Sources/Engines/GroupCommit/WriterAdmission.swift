/// Counts what waits for the writer, for each caller, and refuses what would be too much.
struct WriterAdmission {
    /// The part of all that one caller may have waiting.
    static let callerPart = 8

    private struct Load {
        var jobs = 0
        var bytes = 0
    }

    private let jobsMax: Int
    private let bytesMax: Int
    private var all = Load()
    private var callers: [UInt64: Load] = [:]

    init(jobsMax: Int, bytesMax: Int) {
        self.jobsMax = jobsMax
        self.bytesMax = bytesMax
    }

    /// Jobs that have been taken in and not been finished.
    var jobs: Int { all.jobs }

    /// Takes a job in, or says why not.
    ///
    /// The process's own jobs are always taken in: there are few of them. So is the first job of a caller,
    /// however large it is, while there is room at all.
    mutating func admit(_ job: PendingJob) -> WriterError? {
        var caller = callers[job.caller] ?? Load()
        if job.caller != PendingJob.server, job.caller != PendingJob.background {
            guard all.jobs < jobsMax, all.jobs == 0 || all.bytes + job.bytes <= bytesMax else {
                return .tooManyWaiting
            }
            let isOver =
                caller.jobs >= max(1, jobsMax / Self.callerPart)
                || caller.bytes + job.bytes > bytesMax / Self.callerPart
            guard caller.jobs == 0 || !isOver else { return .tooManyOfCaller }
        }
        caller.jobs += 1
        caller.bytes += job.bytes
        callers[job.caller] = caller
        all.jobs += 1
        all.bytes += job.bytes
        return nil
    }

    /// Takes note that jobs have come to their end.
    mutating func finished(_ jobs: ArraySlice<PendingJob>) {
        for job in jobs {
            all.jobs -= 1
            all.bytes -= job.bytes
            assert(all.jobs >= 0 && all.bytes >= 0, "a job ends once, and was taken in before")
            guard var caller = callers[job.caller] else { continue }
            caller.jobs -= 1
            caller.bytes -= job.bytes
            callers[job.caller] = caller.jobs > 0 ? caller : nil
        }
        assert(
            all.jobs > 0 || isAtRest,
            "once all jobs have ended nothing counts: else a caller would be refused for what is over"
        )
    }

    /// Whether nothing counts towards anybody.
    var isAtRest: Bool { all.jobs == 0 && all.bytes == 0 && callers.isEmpty }
}
