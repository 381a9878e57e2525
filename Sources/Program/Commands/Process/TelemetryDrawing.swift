import Administration
import CloudModel
import Telemetry

/// Telemetry as a chart of letters: operations a second as columns, the rest as one line each, and tables below.
struct TelemetryDrawing {
    /// What a terminal has room for beside the labels.
    private static let columnsMax = 72
    private static let rows = 6
    private static let labelWidth = 16
    private static let tableRowsMax = 10
    private static let blocks: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    private let outcome: ShowTelemetry.Outcome
    private let environment: Environment
    private let operation: String?
    private let columns: [TelemetryTotals]
    /// How much time a column stands for.
    private let seconds: Int64

    init(_ outcome: ShowTelemetry.Outcome, _ environment: Environment, _ operation: String?) {
        self.outcome = outcome
        self.environment = environment
        self.operation = operation
        let points = outcome.report.points
        let each = max(1, (points.count + Self.columnsMax - 1) / Self.columnsMax)
        columns = stride(from: 0, to: points.count, by: each).map { first in
            points[first..<min(first + each, points.count)].reduce(into: TelemetryTotals()) {
                $0.add($1.totals)
            }
        }
        seconds = outcome.report.span.width / 1_000 * Int64(each)
    }

    var text: String {
        let report = outcome.report
        var lines = [head]
        guard report.total.requests > 0 || report.total.noticesSent + report.total.noticesFailed > 0
        else {
            return (lines + ["nothing was counted"] + figureLines).joined(separator: "\n")
        }
        lines += chart(columns.map { Double($0.requests) / Double(seconds) })
        lines.append(axis)
        lines.append(line("error rate", columns.map(rate)) { Self.short($0 * 100) + " %" })
        for (label, part) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
            lines.append(
                line(label, columns.map { $0.latency.seconds(atQuantile: part) ?? 0 }) {
                    Self.short($0 * 1_000) + " ms"
                })
        }
        lines.append(line("bytes in", columns.map { Double($0.bytesIn) }, Self.bytes))
        lines.append(line("bytes out", columns.map { Double($0.bytesOut) }, Self.bytes))
        lines.append(
            line("users affected", columns.map { Double($0.affected.count) }, Self.short))
        lines.append(line("notices sent", columns.map { Double($0.noticesSent) }, Self.short))
        lines.append(line("notices failed", columns.map { Double($0.noticesFailed) }, Self.short))
        lines += table("operation", report.operations) + table("version", report.versions)
        lines +=
            codes("error", report.total.errors) + codes("fault of items", report.total.itemFaults)
        return (lines + figureLines).joined(separator: "\n")
    }

    private var head: String {
        let span = outcome.report.span
        let begin = Timestamp(span.moments.lowerBound).text.prefix(16)
        let end = Timestamp(span.moments.upperBound).text.prefix(16)
        return "\(outcome.container.name) \(environment.rawValue)"
            + (operation.map { " \($0)" } ?? "") + "  \(begin)Z to \(end)Z, a column is "
            + (seconds % 3_600 == 0 ? "\(seconds / 3_600) h" : "\(seconds / 60) min")
    }

    private func rate(_ totals: TelemetryTotals) -> Double {
        totals.requests == 0 ? 0 : Double(totals.errorCount) / Double(totals.requests)
    }

    /// Columns as high as their values.
    private func chart(_ values: [Double]) -> [String] {
        let most = values.max() ?? 0
        return (0..<Self.rows).reversed().map { row in
            let label =
                switch row {
                case Self.rows - 1: Self.short(most)
                case 0: "operations/s"
                default: ""
                }
            let cells = values.map { value -> Character in
                guard most > 0, value > 0 else { return " " }
                let eighths = Int((value / most * Double(Self.rows * 8)).rounded(.up)) - row * 8
                return Self.blocks[min(max(eighths, 0), 8)]
            }
            return Self.padded(label) + "│" + String(cells)
        }
    }

    private var axis: String {
        Self.padded("") + "└" + String(repeating: "─", count: columns.count)
    }

    /// One line of blocks, and the most and the last value.
    private func line(
        _ label: String, _ values: [Double], _ form: (Double) -> String
    ) -> String {
        let most = values.max() ?? 0
        let cells = values.map { value -> Character in
            guard most > 0, value > 0 else { return " " }
            return Self.blocks[max(1, Int((value / most * 8).rounded()))]
        }
        return Self.padded(label) + "│" + String(cells) + "  max \(form(most))"
    }

    private func table(_ title: String, _ rows: [TelemetryReport.Row]) -> [String] {
        guard !rows.isEmpty else { return [] }
        let shown = rows.prefix(Self.tableRowsMax).map { row in
            func latency(_ part: Double) -> String {
                row.totals.latency.seconds(atQuantile: part).map { Self.short($0 * 1_000) } ?? "–"
            }
            return "  \(row.name.isEmpty ? "–" : row.name)  requests=\(row.totals.requests)"
                + "  errors=\(row.totals.errorCount)  p50=\(latency(0.5))  p95=\(latency(0.95))"
                + "  p99=\(latency(0.99)) ms"
        }
        let more = rows.count - shown.count
        return ["by \(title)"] + shown + (more > 0 ? ["  and \(more) more"] : [])
    }

    private func codes(_ title: String, _ counts: [String: UInt64]) -> [String] {
        guard !counts.isEmpty else { return [] }
        return ["by \(title)"]
            + counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "  \($0.key)  \($0.value)" }
    }

    private var figureLines: [String] {
        guard let last = outcome.figures.last else { return [] }
        let day = Timestamp(last.day * 86_400_000).text.prefix(10)
        var line =
            "held on \(day)  records=\(last.records)  recordBytes=\(ByteCount(last.recordBytes))"
            + "  assets=\(last.assets)  assetBytes=\(ByteCount(last.assetBytes))"
            + "  tombstones=\(last.tombstones)  users=\(last.users)"
        if let first = outcome.figures.first, first.day < last.day {
            let day = Timestamp(first.day * 86_400_000).text.prefix(10)
            line += "  (\(day): records=\(first.records)  users=\(first.users))"
        }
        return [line]
    }

    private static func padded(_ label: String) -> String {
        String(repeating: " ", count: max(0, labelWidth - label.count - 1)) + label + " "
    }

    /// Three digits or so.
    private static func short(_ value: Double) -> String {
        if value >= 100 || value == value.rounded() { return "\(Int64(value.rounded()))" }
        let hundredths = Int64((value * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    private static func bytes(_ value: Double) -> String { "\(ByteCount(Int64(value)))" }
}
