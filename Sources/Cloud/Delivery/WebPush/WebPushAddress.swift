import Cryptography
import HTTPClient
import JSON

/// A browser's subscription as it was registered and as a destination keeps it.
package struct WebPushAddress: Sendable {
    package let url: TargetURL
    package let subscription: WebPushSubscription
    /// What a destination keeps, in JSON.
    package let bytes: [UInt8]

    /// Why nothing will ever be sent there, as far as the endpoint alone says; nil for nothing.
    ///
    /// Where a name leads is looked at whenever something is sent (`TargetPolicy`).
    package var obstacle: String? {
        if !url.origin.isSecure { return "\(TargetRefusal.notSecure)" }
        return url.origin.isNumeric ? "its host is a number, where push services have names" : nil
    }

    /// What the destination is found by: the endpoint's SHA-256.
    package var key: [UInt8] { SHA256.digest(Array(subscription.endpoint.utf8)) }

    /// Reads `{"endpoint", "p256dh", "auth"}`, as browsers give them.
    ///
    /// - Returns: nil for an invalid key or secret, and for an endpoint that is not a URL. Whether it may be
    ///   sent to is looked at whenever something is (`TargetPolicy`).
    package init?(_ value: JSONValue) {
        guard value.kind == .object, let endpoint = value["endpoint"]?.string,
            let key = value["p256dh"]?.string, let secret = value["auth"]?.string,
            let url = TargetURL(endpoint),
            let subscription = WebPushSubscription(endpoint: endpoint, key: key, secret: secret)
        else { return nil }
        self.url = url
        self.subscription = subscription
        var writer = JSONWriter(reserving: endpoint.utf8.count + 160)
        writer.raw("{\"endpoint\":")
        writer.string(endpoint)
        writer.member("p256dh", key)
        writer.member("auth", secret)
        writer.raw("}")
        bytes = writer.bytes
    }

    /// What a destination has kept; nil when it is something else.
    package init?(bytes: [UInt8]) {
        do throws(JSONError) {
            guard let address = Self(try JSONDocument(parsing: bytes).root) else { return nil }
            self = address
        } catch {
            return nil
        }
    }
}
