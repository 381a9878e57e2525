import Network

// How long each thing may take.
extension HTTPConnection {
    func sweep(now: UInt64) {
        if shared.isDraining && (shared.isDrainOver || isIdle) {
            close()
            return
        }
        probe()
        guard now >= deadline else { return }
        switch phase {
        case .reading where flags.contains(.isTimed):
            refuse(parser.isInBody ? .bodyTimeout : .headerTimeout)
        case .streaming: refuse(.bodyTimeout)
        case .reading, .writing, .lingering: close()
        case .responding, .closed: break
        }
    }

    private var isIdle: Bool {
        phase == .reading && leftover.isEmpty && parser.isBetweenRequests
    }

    /// Starts the time of a head or of a body.
    func startDeadline() {
        flags.insert(.isTimed)
        setDeadline(
            parser.isInBody ? shared.limits.bodySecondsMax : shared.limits.headerSecondsMax)
    }

    /// Counts bytes moved; enough of them win as much time again.
    func noteProgress(_ count: Int) {
        let isReceiving =
            (phase == .reading || phase == .streaming) && flags.contains(.isTimed)
            && parser.isInBody
        guard isReceiving || phase == .writing else { return }
        let seconds =
            isReceiving ? shared.limits.bodySecondsMax : shared.limits.answerSecondsMax
        let (sum, overflow) = progressBytes.addingReportingOverflow(
            UInt32(clamping: count))
        progressBytes = overflow ? .max : sum
        let (wanted, isEndless) = seconds.multipliedReportingOverflow(
            by: shared.limits.bodyBytesPerSecondMin)
        if !isEndless && Int(progressBytes) >= wanted { setDeadline(seconds) }
    }
}
