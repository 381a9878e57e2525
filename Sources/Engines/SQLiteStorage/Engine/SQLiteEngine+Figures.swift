import GroupCommit
import SQLite
import Storage

extension SQLiteEngine {
    package var figures: [EngineFigure] {
        let writers = measurements
        return distributions(of: writers) + [
            EngineFigure(
                "lenticular_writes_waiting", "Writes that wait for a group.",
                .gauge(Double(writers.reduce(0) { $0 + $1.groups.waiting }))),
            EngineFigure(
                "lenticular_writes_refused_disk_full_total",
                "Writes refused because the disk was full.",
                .counter(Double(writers.reduce(0) { $0 &+ $1.groups.refusedWhileFull }))),
            EngineFigure(
                "lenticular_group_rollbacks_total", "Groups of writes undone as a whole.",
                .counter(Double(writers.reduce(0) { $0 &+ $1.groups.groupRollbacks }))),
            EngineFigure(
                "lenticular_damaged_records_total",
                "Records met that are not what was written.",
                .counter(Double(counts.damaged))),
            EngineFigure(
                "lenticular_wal_bytes", "Bytes of the write-ahead logs.",
                .gauge(Double(logBytes))),
        ]
    }

    private func distributions(of writers: [WriterMeasurements]) -> [EngineFigure] {
        let all: [(name: String, help: String, of: KeyPath<WriterMeasurements, Histogram>)] = [
            ("lenticular_commit_requests", "Requests made durable together.", \.groups.commitJobs),
            (
                "lenticular_commit_seconds", "Time of a group of writes, commit included.",
                \.groups.groupSeconds
            ),
            (
                "lenticular_fsync_seconds", "Time of a COMMIT: the log's write and its fsync.",
                \.groups.commitSeconds
            ),
            (
                "lenticular_feed_lag_seconds",
                "Time until reads saw a group's oldest write, since it reached the writer.",
                \.groups.feedLagSeconds
            ),
            (
                "lenticular_checkpoint_seconds", "Time of checkpoints, beside the writer.",
                \.checkpoints.seconds
            ),
            (
                "lenticular_checkpoint_writer_held_seconds",
                "Time that writers were held up to start a log over.",
                \.checkpoints.writerHeldSeconds
            ),
        ]
        return all.map { name, help, path in
            EngineFigure(
                name, help, .distribution(ValueDistribution(writers.map { $0[keyPath: path] })))
        }
    }
}

extension ValueDistribution {
    /// The sum of what several writers observed under the same bounds.
    fileprivate init(_ histograms: [Histogram]) {
        var sum = histograms.first ?? Histogram(bounds: [])
        for histogram in histograms.dropFirst() { sum.add(histogram) }
        self.init(
            bounds: sum.bounds, counts: sum.counts + [sum.count &- sum.counts.reduce(0, &+)],
            sum: sum.sum)
    }
}
