// Measures how fast notices leave, without what finds them out: `sending webhooks URL COUNT`, and in builds
// with the trait ApplePush `sending apple-push ORIGIN COUNT CERTIFICATE`. docs/performance.md says how.

import CloudModel
import Cryptography
import Delivery
import Dispatch
import HTTPClient
import Network
import Storage
import Synchronization

#if ApplePush
    import HTTP2Client
#endif

struct Refusal: Error, CustomStringConvertible {
    let description: String
}

/// Sends notices with so many under way at a time, and says how many were taken in a second.
func measure(
    _ sender: any NoticeSender, _ kind: DestinationKind, _ address: [UInt8], count: Int,
    atOnce: Int
) throws {
    guard let container = ContainerID("iCloud.benchmark") else {
        throw Refusal(description: "name")
    }
    let failures = Mutex<[String: Int]>([:])
    // Dispatch lets no semaphore go that has less than it began with.
    let room = DispatchSemaphore(value: 0)
    for _ in 0..<atOnce { room.signal() }
    let payload = [UInt8](repeating: UInt8(ascii: "x"), count: 300)
    let clock = ContinuousClock()
    let start = clock.now
    for index in 0..<count {
        room.wait()
        let number = DestinationNumber(1)
        let notice = OutgoingNotice(
            container: container, environment: .production,
            destination: StoredDestination(
                number: number, kind: kind, key: [1], user: nil, device: nil, address: address,
                session: nil, madeAt: 0, usedAt: 0),
            notice: StoredNotice(
                number: NoticeNumber(Int64(index)), destination: number, identifier: "n\(index)",
                scope: .private, collapseID: nil, payload: payload, madeAt: 0),
            now: 1_700_000_000_000)
        sender.send(notice) { outcome in
            if outcome != .delivered { failures.withLock { $0["\(outcome)", default: 0] += 1 } }
            room.signal()
        }
    }
    for _ in 0..<atOnce { room.wait() }
    let seconds = (clock.now - start) / .seconds(1)
    print("\(count) in \(seconds) s: \(Int(Double(count) / seconds))/s")
    for (outcome, count) in failures.withLock({ $0 }) { print("  \(count) × \(outcome)") }
}

func webhooks(_ url: String, count: Int) throws {
    guard let secrets = SealedSecrets(keys: [[UInt8](repeating: 1, count: 32)], random: .system),
        let target = TargetURL(url), let container = ContainerID("iCloud.benchmark"),
        let address = WebhookAddress(
            name: "a", url: target,
            sealedKey: secrets.seal(
                [UInt8](repeating: 2, count: 32),
                for: WebhookAddress.subject(container, .production)))
    else { throw Refusal(description: "\(url) is no URL") }
    let resolver = try NameResolver()
    let requests = try OutgoingRequests(
        policy: TargetPolicy { _ in true }, trust: try ServerTrust()
    ) { resolver.resolve(host: $0, port: $1, then: $2) }
    let sender = WebhookSender(
        secrets: secrets, agent: "benchmark", atOnceMax: 8, send: { requests.send($0, then: $1) })
    try measure(sender, .webhook, address.bytes, count: count, atOnce: 64)
    requests.stop()
    resolver.stop()
}

func applePush(_ text: String, count: Int, certificate: String) throws {
    #if ApplePush
        guard let origin = HTTPOrigin(text),
            let address = ApplePushAddress(
                token: String(repeating: "0a", count: 32), gateway: .production)
        else { throw Refusal(description: "\(text) is no origin") }
        let key = ApplePushKey(
            topic: "org.example", team: "TEAM123456", name: "KEY1234567", key: P256PrivateKey())
        let resolver = try NameResolver()
        let requests = try OutgoingRequests.http2(
            policy: TargetPolicy { _ in true },
            trust: try TLSTrust(authoritiesFile: certificate, spoken: .http2)
        ) { resolver.resolve(host: $0, port: $1, then: $2) }
        let sender = ApplePushSender(
            origins: [.production: origin], findKey: { _, _ in key },
            send: { requests.send($0, then: $1) })
        try measure(sender, .apns, address.bytes, count: count, atOnce: 500)
        requests.stop()
        resolver.stop()
    #else
        throw Refusal(description: "build it with --traits ApplePush")
    #endif
}

let words = CommandLine.arguments
if words.count == 4, words[1] == "webhooks", let count = Int(words[3]) {
    try webhooks(words[2], count: count)
} else if words.count == 5, words[1] == "apple-push", let count = Int(words[3]) {
    try applePush(words[2], count: count, certificate: words[4])
} else {
    print("usage: sending webhooks URL COUNT | sending apple-push ORIGIN COUNT CERTIFICATE")
}
