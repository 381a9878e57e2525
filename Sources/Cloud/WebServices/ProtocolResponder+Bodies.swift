import Accounts
import CloudModel
import Cryptography
import HTTP
import JSON

// What the head of a request decides about its body. The tokens are in the target and the signature is in the
// headers, so the server need not receive a stranger's body.
extension ProtocolResponder {
    package func decide(on request: HTTPRequest, reply: HTTPReply) -> BodyDecision {
        let exchange = Exchange(request, reply, observer: dependencies.observer)
        guard let (address, route) = find(exchange, loop: request.loop) else { return .answered }
        let credentials = Credentials(request, exchange.query)
        do {
            if credentials.areSignature {
                return .receive(reception(ofSigned: credentials, request, at: address, route))
            }
            let identified = try identify(exchange, address, route, isWhole: false)
            guard let route else { throw Self.noEndpoint }
            try admit(identified, to: route, exchange, at: address)
            return .receive(BodyReception(owner: BodyOwner(identified, request)))
        } catch {
            rates.countRefused(exchange)
            exchange.fail(error)
            return .answered
        }
    }

    /// Decides on the body of a signed request.
    ///
    /// Whether a signature is good is known only when the whole body is there. Every failure is answered
    /// equally late (rulings.md 7). But a body that can only be refused is not kept.
    private func reception(
        ofSigned credentials: Credentials, _ request: HTTPRequest, at address: RequestAddress,
        _ route: Route?
    ) -> BodyReception {
        let mayBeGood = dependencies.authenticator.signatureMayBeGood(
            credentials, container: address.container, environment: address.environment,
            now: dependencies.clock.now())
        return BodyReception(
            owner: mayBeGood ? .block(request.client) : .doubted,
            keeps: mayBeGood && route != nil, witness: BodyDigest(isDoubted: !mayBeGood))
    }
}

/// Digests the body of a signed request while it comes in.
final class BodyDigest: BodyWitness, @unchecked Sendable {
    // Unchecked: whoever receives the body uses it from one thread after the other.
    private var hash = SHA256()
    private var byteCount = 0
    private let isDoubted: Bool

    init(isDoubted: Bool) { self.isDoubted = isDoubted }

    func see(_ bytes: UnsafeRawBufferPointer) {
        byteCount += bytes.count
        hash.update(bytes)
    }

    var signed: SignedBody {
        .digested(hash.digest(), byteCount: byteCount, isDoubted: isDoubted)
    }
}

extension BodyOwner {
    /// Whom a body counts to once its credentials have been believed.
    init(_ identified: Identified, _ request: HTTPRequest) {
        self = .caller(Principal(identified, at: request.client).hashValue)
    }
}

extension Exchange {
    /// Counts a body to whoever sent it, and beside it the index that is made to read it.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER where the memory for bodies, or the caller's part, is used up.
    func countBody(to identified: Identified) throws(Fault) {
        guard let memory = request.bodyMemory, !isBodyCounted else { return }
        isBodyCounted = true
        guard memory.move(to: BodyOwner(identified, request)),
            // One body alone may be as long as any, and its index comes on top.
            memory.grow(
                by: JSONDocument.indexBytesMax(for: request.body), mayPassShare: true)
        else { throw .tryAgainLater("there is no memory for this body now", seconds: 1) }
    }
}
