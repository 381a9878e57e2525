import Configuration
import HTTPClient

extension Configuration {
    /// Which targets may be reached that users or configurations name.
    package var targetPolicy: TargetPolicy {
        let allowed = outgoing.allowedNetworks
        return TargetPolicy { address in allowed.contains { $0.contains(address) } }
    }

    /// How much the requests may hold and use that the server sends by itself.
    package var outgoingLimits: OutgoingLimits {
        var limits = OutgoingLimits()
        limits.connectionsMax = outgoing.connectionsMax
        limits.connectionsPerDestinationMax = outgoing.connectionsPerDestinationMax
        limits.waitingPerDestinationMax = outgoing.waitingPerDestinationMax
        limits.answerBytesMax = outgoing.answerBytesMax
        limits.requestMillisecondsMax = outgoing.requestMilliseconds
        limits.connectMillisecondsMax = outgoing.connectMilliseconds
        limits.idleMillisecondsMax = outgoing.idleMilliseconds
        limits.addressMillisecondsMax = outgoing.addressMilliseconds
        return limits
    }
}
