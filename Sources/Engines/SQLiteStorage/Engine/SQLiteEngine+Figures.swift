import GroupCommit
import SQLite
import Storage
import StoredRows

extension SQLiteEngine {
    /// One process has the files to itself.
    package var processes: ServingProcesses { .sole }

    package var figures: [EngineFigure] {
        let writers = measurements
        return CommitterFigures(writers.map(\.groups)).all + checkpoints(of: writers) + [
            EngineFigure(
                "lenticular_damaged_records_total",
                "Records met that are not what was written.",
                .counter(Double(counts.damaged))),
            EngineFigure(
                "lenticular_wal_bytes", "Bytes of the write-ahead logs.",
                .gauge(Double(logBytes))),
        ]
    }

    private func checkpoints(of writers: [WriterMeasurements]) -> [EngineFigure] {
        [
            EngineFigure(
                "lenticular_checkpoint_seconds", "Time of checkpoints, beside the writer.",
                .distribution(ValueDistribution(writers.map(\.checkpoints.seconds)))),
            EngineFigure(
                "lenticular_checkpoint_writer_held_seconds",
                "Time that writers were held up to start a log over.",
                .distribution(ValueDistribution(writers.map(\.checkpoints.writerHeldSeconds)))),
        ]
    }
}
