import Synchronization
import Telemetry

/// What the metrics tell of container environments, where there are few: as of the last minute.
///
/// Above a number of them the rest counts together, so that series of metrics stay few.
final class ContainerReadings: Sendable {
    /// More are not told apart.
    static let environmentsMax = 50

    private struct Key: Hashable {
        let container: String
        let environment: String

        var labels: [(name: String, value: String)] {
            [("container", container), ("environment", environment)]
        }
    }

    private struct State {
        var requests: [Key: UInt64] = [:]
        var errors: [Key: UInt64] = [:]
        var figures: [Key: ContainerFigures] = [:]
    }

    private let state = Mutex(State())

    /// Adds what was counted in a minute.
    func add(_ minute: TelemetryMinute) {
        state.withLock { state in
            for (name, totals) in minute.series where name.kind == .requests {
                var key = Key(container: name.container, environment: name.environment)
                if state.requests[key] == nil, state.requests.count >= Self.environmentsMax {
                    key = Key(container: SeriesName.other, environment: "")
                }
                state.requests[key, default: 0] &+= totals.requests
                state.errors[key, default: 0] &+= totals.errorCount
            }
        }
    }

    /// Notes how much one holds now.
    func note(_ figures: ContainerFigures) {
        let key = Key(container: figures.container, environment: figures.environment)
        state.withLock { state in
            guard state.figures[key] != nil || state.figures.count < Self.environmentsMax else {
                return
            }
            state.figures[key] = figures
        }
    }

    /// Adds all of it to the metrics.
    func observe(in metrics: Metrics) {
        metrics.family(
            "lenticular_container_requests_total", .counter,
            "Finished requests by container environment, as of the last minute."
        ) { [weak self] in self?.samples { $0.requests.mapValues { Double($0) } } ?? [] }
        metrics.family(
            "lenticular_container_errors_total", .counter,
            "Requests that failed, by container environment, as of the last minute."
        ) { [weak self] in self?.samples { $0.errors.mapValues { Double($0) } } ?? [] }
        observe("lenticular_container_records", "Records stored.", in: metrics) { $0.records }
        observe(
            "lenticular_container_record_bytes", "Bytes of records, assets aside.", in: metrics
        ) { $0.recordBytes }
        observe("lenticular_container_asset_bytes", "Bytes of assets.", in: metrics) {
            $0.assetBytes
        }
        observe(
            "lenticular_container_tombstones", "Deleted records of which the feed still tells.",
            in: metrics
        ) { $0.tombstones }
        observe("lenticular_container_users", "Users who have a zone.", in: metrics) { $0.users }
    }

    private func observe(
        _ name: String, _ help: String, in metrics: Metrics,
        _ value: @escaping @Sendable (ContainerFigures) -> Int64
    ) {
        metrics.family(
            name, .gauge, "\(help) Looked at once an hour while the environment is in use."
        ) { [weak self] in
            self?.samples { $0.figures.mapValues { Double(value($0)) } } ?? []
        }
    }

    private func samples(
        _ read: (State) -> [Key: Double]
    ) -> [(labels: [(name: String, value: String)], value: Double)] {
        let state = state.withLock { $0 }
        return read(state).sorted {
            ($0.key.container, $0.key.environment) < ($1.key.container, $1.key.environment)
        }.map { ($0.key.labels, $0.value) }
    }
}
