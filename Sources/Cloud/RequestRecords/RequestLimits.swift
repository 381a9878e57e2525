import CloudModel

/// How much is kept of requests.
package struct RequestLimits: Sendable {
    package var bytesMax: Int
    package var daysMax: Int

    package init(bytesMax: Int, daysMax: Int) {
        self.bytesMax = bytesMax
        self.daysMax = daysMax
    }

    /// Lines of earlier moments go.
    package func oldest(at now: Milliseconds) -> Milliseconds {
        now &- Milliseconds(daysMax) &* 86_400_000
    }
}
