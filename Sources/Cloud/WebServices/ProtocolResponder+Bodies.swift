import Accounts
import CloudModel
import Cryptography
import HTTP
import JSON
import Synchronization

// What the head of a request decides about its body. The tokens are in the target and the signature is in the
// headers, so the server need not receive a stranger's body.
extension ProtocolResponder {
    package func decide(on request: HTTPRequest, reply: HTTPReply) -> BodyDecision {
        let exchange = Exchange(request, reply, observer: dependencies.observer)
        guard let addressed = address(exchange, loop: request.loop) else { return .answered }
        let credentials = Credentials(request, exchange.query)
        do {
            return .receive(
                try credentials.areSignature
                    ? bodyOptions(ofSigned: credentials, for: addressed)
                    : bodyOptions(of: addressed))
        } catch {
            exchange.fail(error)
            return .answered
        }
    }

    /// Admits a request by its head; one that is refused counts, and one that comes again whole does so then.
    private func bodyOptions(of addressed: AddressedRequest) throws -> BodyOptions {
        let sender = look(up: addressed)
        let counted = try rates.count(addressed, sender.found.result, isWhole: false)
        do {
            try containers.count(addressed, sender.found.result, isWhole: false)
            let admitted = try admit(addressed, sender, counted: counted)
            return BodyOptions(
                owner: BodyOwner(admitted.identified, addressed.exchange.request),
                witness: KnownSender(sender))
        } catch {
            if let counted, case .success = sender.found.result {
                _ = rates.admit(counted, writing: nil)
            }
            throw error
        }
    }

    /// Decides on the body of a signed request.
    ///
    /// Whether a signature is good is known only when the whole body is there. Every failure is answered
    /// equally late (rulings.md 7). But a body that can only be refused is not kept.
    private func bodyOptions(
        ofSigned credentials: Credentials, for addressed: AddressedRequest
    ) throws -> BodyOptions {
        let address = addressed.address
        let mayBeGood = try dependencies.authenticator.signatureMayBeGood(
            credentials, container: address.container, environment: address.environment,
            now: dependencies.clock.now())
        return BodyOptions(
            owner: mayBeGood ? .block(addressed.exchange.request.client) : .doubted,
            keeps: mayBeGood && addressed.route != nil, witness: BodyDigest(isDoubted: !mayBeGood))
    }
}

/// Digests the body of a signed request while it comes in.
final class BodyDigest: BodyWitness {
    private struct State {
        var hash = SHA256()
        var byteCount = 0
    }

    private let state = Mutex(State())
    private let isDoubted: Bool

    init(isDoubted: Bool) { self.isDoubted = isDoubted }

    func see(_ bytes: UnsafeRawBufferPointer) {
        state.withLock {
            $0.byteCount += bytes.count
            $0.hash.update(bytes)
        }
    }

    var signed: SignedBody {
        state.withLock {
            .digested($0.hash.digest(), byteCount: $0.byteCount, isDoubted: isDoubted)
        }
    }
}

extension BodyOwner {
    /// Whom a body counts to once its credentials have been believed.
    init(_ identified: Identified, _ request: HTTPRequest) {
        self = .caller(Principal(identified, at: request.client).hashValue)
    }
}

extension Exchange {
    /// Counts a body, and the index that reads it, to its sender.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER where the memory for bodies, or the caller's part, is used up.
    func countBody(to identified: Identified) throws(Fault) {
        guard let memory = request.bodyMemory else { return }
        guard memory.move(to: BodyOwner(identified, request)),
            // One body alone may be as long as any, and its index comes on top.
            memory.grow(
                by: JSONDocument.indexBytesMax(for: request.body), mayPassShare: true)
        else { throw .tryAgainLater("there is no memory for this body now", seconds: 1) }
    }
}
