import Configuration
import Delivery
import HTTP2Client
import HTTPClient

extension ServerConfiguration {
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

    /// As `outgoingLimits`, over HTTP/2.
    package var http2Limits: HTTP2Limits {
        var limits = HTTP2Limits()
        limits.streamsPerConnectionMax = outgoing.streamsPerConnectionMax
        limits.waitingPerDestinationMax = outgoing.streamsWaitingMax
        limits.idleMillisecondsMax = outgoing.streamsIdleMilliseconds
        limits.answerBytesMax = outgoing.answerBytesMax
        limits.requestMillisecondsMax = outgoing.requestMilliseconds
        limits.connectMillisecondsMax = outgoing.connectMilliseconds
        limits.addressMillisecondsMax = outgoing.addressMilliseconds
        return limits
    }

    /// Where Apple's push service answers: for apps in development, and for all others.
    var applePushOrigins: [ApplePushAddress.Gateway: HTTPOrigin] {
        var origins: [ApplePushAddress.Gateway: HTTPOrigin] = [:]
        origins[.production] = HTTPOrigin(outgoing.applePushURL)
        origins[.development] = HTTPOrigin(outgoing.applePushDevelopmentURL)
        return origins
    }
}
