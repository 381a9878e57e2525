import Cryptography
import HTTPClient
import Storage

/// Posts notices to the webhooks of containers, signed.
package final class WebhookSender: NoticeSender {
    package let noticesAtOncePerDestinationMax: Int

    private let secrets: SealedSecrets
    private let agent: String
    private let sendRequest: SendRequest

    /// - Parameters:
    ///   - secrets: that the signing keys are sealed by.
    ///   - agent: how the server calls itself in `User-Agent`.
    ///   - atOnceMax: to one webhook.
    package init(
        secrets: SealedSecrets, agent: String, atOnceMax: Int, send: @escaping SendRequest
    ) {
        self.secrets = secrets
        self.agent = agent
        noticesAtOncePerDestinationMax = atOnceMax
        sendRequest = send
    }

    package func send(
        _ notice: OutgoingNotice, then: @escaping @Sendable (DeliveryOutcome) -> Void
    ) {
        guard let address = WebhookAddress(bytes: notice.destination.address) else {
            return then(.later(reason: "the webhook's address cannot be read"))
        }
        let key: [UInt8]
        do throws(SecretRefusal) {
            key = try secrets.open(
                address.sealedKey,
                for: WebhookAddress.subject(notice.container, notice.environment))
        } catch {
            return then(.later(reason: "the webhook's signing key does not open"))
        }
        let signature = WebhookSignature.headers(
            identifier: notice.notice.identifier, seconds: notice.now / 1_000,
            body: notice.notice.payload, keys: [key])
        guard let signature else { return then(.gone(reason: "the notice cannot be signed")) }
        let trace: [(name: String, value: String)] =
            notice.notice.trace.map { [("traceparent", $0)] } ?? []
        let request = OutgoingRequest(
            method: "POST", url: address.url, namedBy: .operators,
            headers: [("Content-Type", "application/json"), ("User-Agent", agent)] + signature
                + trace,
            body: notice.notice.payload)
        sendRequest(request) { then(Self.outcome(of: $0)) }
    }

    /// Only 2xx says that it was taken; a redirect leads nowhere.
    static func outcome(of result: Result<OutgoingAnswer, ClientFailure>) -> DeliveryOutcome {
        switch result {
        case .failure(let failure): return .later(reason: "\(failure)")
        case .success(let answer):
            let reason = "answered with \(answer.status)"
            switch answer.status {
            case 200..<300: return .delivered
            case 300..<400: return .later(reason: "\(reason), and redirects are not followed")
            case 410: return .gone(reason: reason)
            default: return .later(reason: reason, seconds: answer.retryAfterSeconds)
            }
        }
    }
}
