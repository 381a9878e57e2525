import Cryptography
import HTTPClient
import Storage
import Synchronization

/// Pushes notices to browsers (RFC 8030), sealed for each (RFC 8291) and signed with the server's key (RFC
/// 8292).
package final class WebPushSender: NoticeSender {
    /// For how long a push service keeps what a browser has not fetched: 4 weeks, as long as most do.
    private static let keptSeconds = 2_419_200
    /// An authorization is good for half a day, and is made anew after half of that.
    private static let authorizationSeconds: Int64 = 21_600
    /// There are few push services; with more of them, authorizations are made again.
    private static let authorizationsMax = 256

    package let noticesAtOncePerDestinationMax = 1

    private struct Authorization {
        let header: String
        let madeAt: Int64
    }

    private let identification: PushIdentification
    private let random: RandomSource
    private let sendRequest: SendRequest
    private let authorizations = Mutex<[String: Authorization]>([:])

    package init(
        _ identification: PushIdentification, random: RandomSource,
        send: @escaping SendRequest
    ) {
        self.identification = identification
        self.random = random
        sendRequest = send
    }

    package func send(
        _ notice: OutgoingNotice, then: @escaping @Sendable (DeliveryOutcome) -> Void
    ) {
        guard let address = WebPushAddress(bytes: notice.destination.address) else {
            return then(.gone(reason: "the browser's subscription cannot be read"))
        }
        let payload = notice.notice.payload
        let text =
            payload.count > WebPushMessage.bytesMax ? ShortNotice.bytes(of: payload) : payload
        guard let body = WebPushMessage.seal(text, for: address.subscription, random: random)
        else {
            return then(.refused(reason: "the notice is over \(WebPushMessage.bytesMax) bytes"))
        }
        let isShown = NoticeUrgency(of: payload).isShown
        var headers = [
            ("TTL", "\(Self.keptSeconds)"), ("Urgency", isShown ? "high" : "normal"),
            ("Content-Type", "application/octet-stream"), ("Content-Encoding", "aes128gcm"),
            (
                "Authorization",
                authorization(toward: address.url.origin.text, seconds: notice.now / 1_000)
            ),
        ]
        if let collapseID = notice.notice.collapseID {
            headers.append(("Topic", NoticeTopic.text(collapseID)))
        }
        let request = OutgoingRequest(
            method: "POST", url: address.url, namedBy: .users, headers: headers, body: body)
        sendRequest(request) { then(Self.outcome(of: $0)) }
    }

    private func authorization(toward origin: String, seconds: Int64) -> String {
        let kept = authorizations.withLock { $0[origin] }
        if let kept, (0..<Self.authorizationSeconds).contains(seconds - kept.madeAt) {
            return kept.header
        }
        let header = identification.authorization(toward: origin, seconds: seconds)
        authorizations.withLock { all in
            if all.count >= Self.authorizationsMax { all = [:] }
            all[origin] = Authorization(header: header, madeAt: seconds)
        }
        return header
    }

    /// What a push service's answer says (RFC 8030 §5, §7.3, §8.4).
    static func outcome(of result: Result<OutgoingAnswer, ClientFailure>) -> DeliveryOutcome {
        switch result {
        case .failure(let failure): return .later(reason: "\(failure)")
        case .success(let answer):
            let reason = "answered with \(answer.status)"
            switch answer.status {
            case 200..<300: return .delivered
            case 404, 410: return .gone(reason: reason)
            case 400, 401, 403, 413: return .refused(reason: reason)
            default: return .later(reason: reason, seconds: answer.retryAfterSeconds)
            }
        }
    }
}
