import Background
import CloudModel
import HTTPClient
import JSON
import Storage

/// Pushes notices to Apple's devices by its push service (APNs).
package final class ApplePushSender: NoticeSender {
    /// For how long the service keeps what a device has not fetched.
    private static let keptSeconds: Int64 = 2_419_200
    private static let collapseBytesMax = 64

    package let noticesAtOncePerDestinationMax = 1

    /// The key of one of a container's apps: of that topic, or the only one it has; nil for none.
    package typealias FindKey =
        @Sendable (_ container: ContainerID, _ topic: String?) -> ApplePushKey?

    private let origins: [ApplePushAddress.Gateway: HTTPOrigin]
    private let findKey: FindKey
    private let sendRequest: SendRequest
    private let tokens = ProviderTokens()
    private let serviceBackoff: ServiceBackoff

    /// - Parameters:
    ///   - origins: where the two services answer.
    ///   - backoff: how long to wait for a service that is in trouble.
    ///   - send: over HTTP/2.
    package init(
        origins: [ApplePushAddress.Gateway: HTTPOrigin], findKey: @escaping FindKey,
        backoff: Backoff = Backoff(first: 1_000, longest: 60_000), send: @escaping SendRequest
    ) {
        self.origins = origins
        self.findKey = findKey
        serviceBackoff = ServiceBackoff(backoff)
        sendRequest = send
    }

    package func send(
        _ notice: OutgoingNotice, then: @escaping @Sendable (DeliveryOutcome) -> Void
    ) {
        guard let address = ApplePushAddress(bytes: notice.destination.address),
            let origin = origins[address.gateway]
        else { return then(.gone(reason: "the device's address cannot be read")) }
        guard let key = findKey(notice.container, address.topic) else {
            return then(.later(reason: "no push key of the app; `push key add` adds it"))
        }
        let seconds = notice.now / 1_000
        if let left = serviceBackoff.remaining(origin.text, seconds: seconds) {
            return then(.later(reason: "the push service is left alone for a while", seconds: left))
        }
        let url = TargetURL(origin, "/3/device/\(address.token)")
        let request = OutgoingRequest(
            method: "POST", url: url, namedBy: .operators,
            headers: headers(of: notice, key, seconds: seconds), body: notice.notice.payload)
        sendRequest(request) { [self] result in
            then(outcome(of: result, notice, key, origin, seconds: seconds))
        }
    }

    private func headers(
        of notice: OutgoingNotice, _ key: ApplePushKey, seconds: Int64
    ) -> [(name: String, value: String)] {
        let isShown = NoticeUrgency(of: notice.notice.payload).isShown
        var headers = [
            ("authorization", "bearer \(tokens.token(of: key, seconds: seconds))"),
            ("apns-topic", key.topic), ("apns-push-type", isShown ? "alert" : "background"),
            // Background pushes may have no other than 5.
            ("apns-priority", isShown ? "10" : "5"),
            ("apns-expiration", "\(notice.notice.madeAt / 1_000 + Self.keptSeconds)"),
        ]
        if Self.isIdentifier(notice.notice.identifier) {
            headers.append(("apns-id", notice.notice.identifier.lowercased()))
        }
        if let collapseID = notice.notice.collapseID {
            headers.append(("apns-collapse-id", Self.collapse(collapseID)))
        }
        return headers
    }

    /// Whether a text is a UUID, which the service takes as a push's name.
    private static func isIdentifier(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.map(\.count) == [8, 4, 4, 4, 12]
            && parts.joined().allSatisfy {
                0x30...0x39 ~= $0 || 0x41...0x46 ~= $0 || 0x61...0x66 ~= $0
            }
    }

    /// The app's name where the service takes it, else one made of it.
    private static func collapse(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { 0x20...0x7E ~= $0 }
        return isPlain && (1...collapseBytesMax).contains(text.utf8.count)
            ? text : NoticeTopic.text(text)
    }
}

extension ApplePushSender {
    /// What the service says, after Apple's table of its answers.
    private func outcome(
        of result: Result<OutgoingAnswer, ClientFailure>, _ notice: OutgoingNotice,
        _ key: ApplePushKey, _ origin: HTTPOrigin, seconds: Int64
    ) -> DeliveryOutcome {
        let answer: OutgoingAnswer
        switch result {
        case .success(let found): answer = found
        case .failure(.overloaded):
            // Our own queue is full: that says nothing about the service.
            return .later(reason: "\(ClientFailure.overloaded)", seconds: 1)
        case .failure(let failure):
            serviceBackoff.fail(origin.text, asked: nil, seconds: seconds)
            return .later(reason: "\(failure)")
        }
        let said = Self.said(in: answer)
        let reason = "answered with \(answer.status)" + (said.map { " \($0)" } ?? "")
        switch (answer.status, said) {
        case (200, _):
            serviceBackoff.succeed(origin.text)
            return .delivered
        case (410, _), (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"):
            return .gone(reason: reason)
        case (403, "ExpiredProviderToken"):
            tokens.expire(key, seconds: seconds)
            return .later(reason: reason, seconds: 1)
        case (403, _), (400, "MissingTopic"), (400, "BadTopic"), (400, "TopicDisallowed"):
            // The key is wrong, or was revoked: it can be put right.
            return .later(reason: reason, seconds: answer.retryAfterSeconds)
        case (429, "TooManyRequests"):
            // Of this device alone.
            return .later(reason: reason, seconds: answer.retryAfterSeconds)
        case (429, _), (500..., _):
            serviceBackoff.fail(origin.text, asked: answer.retryAfterSeconds, seconds: seconds)
            return .later(reason: reason, seconds: answer.retryAfterSeconds)
        case (400..<500, _): return .refused(reason: reason)
        default: return .later(reason: reason, seconds: answer.retryAfterSeconds)
        }
    }

    /// `reason` in the answer's object: one word of Apple's list.
    private static func said(in answer: OutgoingAnswer) -> String? {
        do throws(JSONError) {
            let text = try JSONDocument(parsing: answer.body).root["reason"]?.string
            return text.flatMap { text in
                text.utf8.count <= 64 && text.allSatisfy { $0.isASCII && $0.isLetter } ? text : nil
            }
        } catch {
            return nil
        }
    }
}
