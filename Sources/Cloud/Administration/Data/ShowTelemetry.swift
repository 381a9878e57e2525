import CloudModel
import Telemetry

/// Shows what happened in a container environment in the last hours, by numbers in which nobody is named.
///
/// Refusals: `AccountsRefusal.containerNameIllegal`, `CatalogRefusal.containerUnknown`.
package struct ShowTelemetry: AdministrativeAction {
    package struct Outcome: Sendable {
        package let container: ContainerID
        package let report: TelemetryReport
        /// How much it held, by days.
        package let figures: [ContainerFigures]
        /// The minutes in which the server began to serve, the latest `startsMax` of that time.
        package let starts: [Milliseconds]
    }

    package var name: String { "telemetry show" }
    package var changes: Bool { false }
    package var right: ActionRight { .container }

    private static let startsMax = 100

    private let target: NamedEnvironment
    private let hours: Int
    private let end: Milliseconds?
    private let operation: String?

    /// - Parameters:
    ///   - hours: from 1 to `ChartSpan.hoursMax`.
    ///   - end: they go up to then; nil for now.
    ///   - operation: such as `records/modify`; nil for all.
    package init(
        of target: NamedEnvironment, hours: Int, until end: Milliseconds? = nil, operation: String?
    ) {
        self.target = target
        self.hours = hours
        self.end = end
        self.operation = operation
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        let found = try target.found(in: data)
        let (container, environment) = (found.container.folded, found.environment.rawValue)
        let span = ChartSpan(hours: hours, until: end ?? data.clock.now())
        let storage = try data.telemetry()
        let series = try storage.rows(
            RowQuestion(
                Set(SeriesName.Kind.allCases), of: container, in: environment, step: span.step,
                moments: span.moments))
        let days =
            ContainerFigures.day(
                of: span.moments.lowerBound)...ContainerFigures.day(
                of: span.moments.upperBound)
        return Outcome(
            container: found.container,
            report: TelemetryReport(span, of: series, operation: operation),
            figures: try storage.figures(of: container, in: environment, days: days),
            starts: try storage.starts(in: span.moments, limit: Self.startsMax))
    }
}
