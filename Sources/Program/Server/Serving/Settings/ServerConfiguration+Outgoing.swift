import Configuration
import Delivery
import HTTPClient

extension ServerConfiguration {
    /// Which targets may be reached that users or configurations name.
    package var targetPolicy: TargetPolicy {
        let allowed = outgoing.allowedNetworks
        return TargetPolicy { address in allowed.contains { $0.contains(address) } }
    }

    /// Where Apple's push service answers: for apps in development, and for all others.
    var applePushOrigins: [ApplePushAddress.Gateway: HTTPOrigin] {
        var origins: [ApplePushAddress.Gateway: HTTPOrigin] = [:]
        origins[.production] = HTTPOrigin(outgoing.applePushURL)
        origins[.development] = HTTPOrigin(outgoing.applePushDevelopmentURL)
        return origins
    }
}
