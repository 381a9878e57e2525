import GroupCommit
import Storage

/// What the committers of an engine's stores count, as metrics.
package struct CommitterFigures {
    private let committers: [GroupMeasurements]

    package init(_ committers: [GroupMeasurements]) { self.committers = committers }

    package var all: [EngineFigure] {
        distributions + [
            EngineFigure(
                "lenticular_writes_waiting", "Writes that wait for a group.",
                .gauge(Double(committers.reduce(0) { $0 + $1.waiting }))),
            EngineFigure(
                "lenticular_writes_refused_disk_full_total",
                "Writes refused because the disk was full.",
                .counter(Double(committers.reduce(0) { $0 &+ $1.refusedWhileFull }))),
            EngineFigure(
                "lenticular_group_rollbacks_total", "Groups of writes undone as a whole.",
                .counter(Double(committers.reduce(0) { $0 &+ $1.groupRollbacks }))),
        ]
    }

    private var distributions: [EngineFigure] {
        let all: [(name: String, help: String, of: KeyPath<GroupMeasurements, Histogram>)] = [
            ("lenticular_commit_requests", "Requests made durable together.", \.commitJobs),
            (
                "lenticular_commit_seconds", "Time of a group of writes, commit included.",
                \.groupSeconds
            ),
            (
                "lenticular_fsync_seconds", "Time of a COMMIT: the log's write and its fsync.",
                \.commitSeconds
            ),
            (
                "lenticular_feed_lag_seconds",
                "Time until reads saw a group's oldest write, since it reached the writer.",
                \.feedLagSeconds
            ),
        ]
        return distributions(all)
    }

    /// Of those that read in groups and write nothing.
    package var ofReads: [EngineFigure] {
        distributions([
            (
                "lenticular_read_group_requests", "Short reads that saw one moment together.",
                \.commitJobs
            ),
            ("lenticular_read_group_seconds", "Time of a group of short reads.", \.groupSeconds),
        ])
    }

    private func distributions(
        _ all: [(name: String, help: String, of: KeyPath<GroupMeasurements, Histogram>)]
    ) -> [EngineFigure] {
        all.map { name, help, path in
            EngineFigure(
                name, help, .distribution(ValueDistribution(committers.map { $0[keyPath: path] })))
        }
    }
}

extension ValueDistribution {
    /// The sum of what several observed under the same bounds.
    package init(_ histograms: [Histogram]) {
        var sum = histograms.first ?? Histogram(bounds: [])
        for histogram in histograms.dropFirst() { sum.add(histogram) }
        self.init(
            bounds: sum.bounds, counts: sum.counts + [sum.count &- sum.counts.reduce(0, &+)],
            sum: sum.sum)
    }
}
