// What always holds of a connection of a sound server.
extension HTTPConnection {
    /// What does not hold between two turns of the loop; nil on a sound connection.
    ///
    /// Each of these would have one client wait for ever, or send it bytes of another answer.
    var brokenInvariant: StaticString? {
        if (phase == .writing) != (pending != nil) {
            return "what is being written is kept, and nothing else is"
        }
        if (phase == .streaming) && incoming == nil {
            return "a body that streams has somebody to take it"
        }
        if let incoming, incoming.bytesOut < 0 {
            return "a sink deals with no more of a body than it was given"
        }
        if phase == .reading && flags.contains(.isOpen) {
            return "no request is read before the open answer has ended"
        }
        return nil
    }

    /// Closes a connection whose state cannot be trusted any more; the others go on.
    ///
    /// - Returns: whether the connection is sound.
    @discardableResult
    func closeIfBroken() -> Bool {
        guard phase != .closed, let invariant = brokenInvariant else { return true }
        breakOff(invariant)
        return false
    }

    /// Closes the connection, and tells the operator what did not hold.
    func breakOff(_ invariant: StaticString) {
        shared.observer.broken("a connection was closed, for this did not hold: \(invariant)")
        close()
    }
}
