import Accounts
import Configuration
import Control
import HTTPClient
import Network
import Storage
import Synchronization

/// Asks identity providers, by way of the one check of where the server may send to.
///
/// It has an event loop and connections of its own, apart from those of notices (`OutgoingTraffic`): a person
/// who signs in must not wait behind thousands of webhooks that answer slowly.
final class ProviderRequests: ProviderFetch {
    private static let answerBytesMax = 262_144
    private static let millisecondsMax = 10_000
    /// Longer than any request may take: nobody waits for ever.
    private static let waitSecondsMax = 30

    /// Pages that wait for a provider at a time: the others' threads are for other pages.
    private static let waitingMax = 4

    private let requests: OutgoingRequests
    private let resolver: NameResolver
    private let waiting = Atomic(0)

    /// - Throws: `CommandFailure` when threads or certificates are not to be had.
    init(_ configuration: ServerConfiguration) throws {
        let resolver = try NameResolver()
        self.resolver = resolver
        var limits = OutgoingLimits()
        limits.answerBytesMax = Self.answerBytesMax
        requests = try OutgoingRequests(
            policy: configuration.targetPolicy,
            trust: ServerTrust(),
            limits: limits
        ) { resolver.resolve(host: $0, port: $1, then: $2) }
    }

    /// Ends it; the waiting callers are told so.
    func stop() {
        requests.stop()
        resolver.stop()
    }

    func fetch(
        _ address: String, form: String?, authorization: String?
    ) throws(ProviderFailure) -> [UInt8] {
        guard let url = TargetURL(address) else {
            throw .unreachable("an address of its document is none")
        }
        defer { waiting.subtract(1, ordering: .relaxed) }
        guard waiting.add(1, ordering: .relaxed).newValue <= Self.waitingMax else {
            throw .unreachable("too many wait for providers")
        }
        var headers: [(name: String, value: String)] = [("Accept", "application/json")]
        if form != nil { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
        if let authorization { headers.append(("Authorization", authorization)) }
        let request = OutgoingRequest(
            method: form == nil ? "GET" : "POST", url: url, namedBy: .operators, headers: headers,
            body: Array((form ?? "").utf8), millisecondsMax: Self.millisecondsMax,
            // A code is good once.
            isRepeatable: form == nil)
        let answer: OutgoingAnswer
        do {
            answer = try requests.answer(to: request, withinSeconds: Self.waitSecondsMax)
        } catch { throw .unreachable("\(error)") }
        guard answer.status == 200 else { throw .unreachable("status \(answer.status)") }
        return answer.body
    }
}

extension OutgoingRequests {
    /// Sends a request and waits for its answer.
    ///
    /// - Parameter seconds: longer than the request may take, so that nobody waits for ever.
    /// - Throws: what says in one line why there is none.
    func answer(
        to request: OutgoingRequest, withinSeconds seconds: Int
    ) throws -> OutgoingAnswer {
        let pending = Pending<OutgoingAnswer>()
        send(request) { result in pending.end(result.mapError { $0 }) }
        guard let answer = try pending.wait(withinSeconds: seconds) else {
            throw CommandFailure("no answer")
        }
        return answer
    }
}

/// The requests to providers once a server runs; until then, and for commands, nobody is asked.
final class ProviderAccess: ProviderFetch {
    private let requests = Mutex<ProviderRequests?>(nil)

    func attach(_ requests: ProviderRequests?) { self.requests.withLock { $0 = requests } }

    func fetch(
        _ address: String, form: String?, authorization: String?
    ) throws(ProviderFailure) -> [UInt8] {
        guard let requests = requests.withLock({ $0 }) else {
            throw .unreachable("the server does not run")
        }
        return try requests.fetch(address, form: form, authorization: authorization)
    }
}
