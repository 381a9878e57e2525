/// What was asked of telemetry came after its database was closed.
package struct TelemetryClosed: Error, CustomStringConvertible {
    package init() {}

    package var description: String { "the telemetry is closed" }
}
