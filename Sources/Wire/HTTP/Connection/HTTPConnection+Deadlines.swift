// How long each thing may take.
extension HTTPConnection {
    func sweep(now: UInt64) {
        if shared.isDraining && endIfUnfinished(now: now) { return }
        // A client may have gone since it was last asked.
        probe()
        guard now >= deadline else { return }
        switch phase {
        // A request that has its answer gets no second one.
        case .reading where flags.contains(.isTimed) && !parser.isInBody: refuse(.headerTimeout)
        case .streaming: refuse(incoming?.isWaiting == true ? .noBodyMemory : .bodyTimeout)
        case .reading, .writing, .lingering: close()
        case .responding, .telling, .closed: break
        }
    }

    /// Ends what a stopping server does not wait for: heads that are not whole, bodies that hardly
    /// come, and everything once its time is over.
    private func endIfUnfinished(now: UInt64) -> Bool {
        if shared.isDrainOver {
            close()
            return true
        }
        if phase == .reading {
            endUnlessBegun()
            return true
        }
        guard phase == .streaming, let incoming, !incoming.isPaused, now >= incoming.stallAt
        else { return false }
        let isStalled =
            incoming.stallAt > 0 && incoming.recentBytes < Self.drainBytesPerSecondMin
        incoming.stallAt = now &+ 1_000
        incoming.recentBytes = 0
        if isStalled { refuse(.stopping) }
        return isStalled
    }

    /// Serves what has come by now, and waits until the next sweep for a client that has just connected, or whose
    /// request has come in part: it does not know yet that nobody listens any more.
    private func endUnlessBegun() {
        receive()
        guard phase == .reading else { return }
        let isIdle = requestNumber > 0 && leftover.isEmpty && !parser.isInBody
        if isIdle || flags.contains(.isSpared) { close() } else { flags.insert(.isSpared) }
    }

    /// A body that comes more slowly is not waited for.
    private static let drainBytesPerSecondMin = 16 * 1024

    /// Starts the time of a head or of a body.
    func startDeadline() {
        flags.insert(.isTimed)
        setDeadline(
            parser.isInBody ? shared.limits.bodySecondsMax : shared.limits.headerSecondsMax)
    }

    /// Counts bytes moved; enough of them win as much time again.
    func noteProgress(_ count: Int) {
        if let incoming { incoming.recentBytes += count }
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
