/// What is counted for charts and alerts.
package struct TelemetrySettings: Sendable, Equatable {
    package var series = 2_000
    package var slowMilliseconds = 1_000
    package var otlpEndpoint = ""
}

extension TelemetrySettings {
    static let section = Setting.Section(
        name: "telemetry",
        documentation: "Charts and alerts.",
        settings: [
            .number(
                "telemetry.series", \.telemetry.series, 0...20_000, "series", zero: "nothing",
                "Series counted apart in a minute."),
            .number(
                "telemetry.slowMilliseconds", \.telemetry.slowMilliseconds, 0...3_600_000,
                "milliseconds", zero: "none", "Requests above it are logged as slow."),
            .origin(
                "telemetry.otlpEndpoint", \.telemetry.otlpEndpoint,
                "Collector of OpenTelemetry that gets each minute, by OTLP over HTTP in JSON. Empty: none."
            ),
        ])
}
