import Accounts
import CloudModel
import HTTP

// The stages of a request up to its admission: it is addressed, identified, counted, and admitted to its endpoint.
extension ProtocolResponder {
    static let noEndpoint = Fault(.notFound, "could not find a handler for this endpoint")

    /// Takes a request from its target to its endpoint.
    func begin(_ exchange: Exchange, at executor: Executor) {
        guard let addressed = address(exchange, loop: executor.loop) else { return }
        do {
            enter(try admit(addressed), at: executor, after: nil)
        } catch {
            exchange.fail(error)
        }
    }

    /// Reads what a request asks for; nil when the request has been answered already.
    ///
    /// That is so for a preflight, for an address that does not exist, and for a method that is not accepted.
    ///
    /// - Parameter loop: the event loop whose thread this is; nil on any other thread.
    func address(_ exchange: Exchange, loop: Int?) -> AddressedRequest? {
        let request = exchange.request
        if request.method == .options {
            exchange.sendPreflight()
            return nil
        }
        guard let address = addresses.address(of: exchange.query, loop: loop) else {
            exchange.fail(Self.noEndpoint)
            return nil
        }
        let route = RouteTable.routes[address.operation]
        exchange.note {
            $0.address = address
            $0.operation = route?.operation
        }
        let addressed = AddressedRequest(exchange: exchange, address: address, route: route)
        if let route, !route.methods.contains(request.method) {
            _ = look(up: addressed)
            exchange.refuseMethod(route.methods)
            return nil
        }
        return addressed
    }

    /// Finds out who sent a request, unless its head has told already.
    func look(up addressed: AddressedRequest) -> Sender {
        let sender = known(addressed.exchange.request) ?? identify(addressed)
        addressed.exchange.note {
            $0.allowedOrigin = sender.found.allowedOrigin
            $0.refusal = sender.found.refusal
            // Also of one who is held back by a rate.
            guard case .success(let identified) = sender.found.result else { return }
            $0.caller = identified.caller
            $0.session = identified.session
        }
        if sender.found.refusal == .dateTooFar { noteDate(of: addressed.exchange) }
        return sender
    }

    /// Notes how far off the date of a signed request is.
    private func noteDate(of exchange: Exchange) {
        guard let text = exchange.request.headers["x-apple-cloudkit-request-iso8601date"],
            let date = RequestDate.milliseconds(text)
        else { return }
        let now = dependencies.clock.now()
        let user = exchange.query.text("ckOnBehalfOf").flatMap { UserRecordName($0) }
        exchange.note {
            $0.dateAheadMilliseconds = date.subtractingReportingOverflow(now).0
            $0.claimedUser = user
        }
    }

    /// The sender of a request as its head has told, unless credentials have changed since.
    private func known(_ request: HTTPRequest) -> Sender? {
        guard let witness = request.bodyWitness as? KnownSender,
            witness.sender.changeCount == dependencies.authenticator.changeCount
        else { return nil }
        return witness.sender
    }

    private func identify(_ addressed: AddressedRequest) -> Sender {
        let changeCount = dependencies.authenticator.changeCount
        let exchange = addressed.exchange
        let found = dependencies.authenticator.identify(
            Credentials(exchange.request, exchange.query), container: addressed.address.container,
            environment: addressed.address.environment, now: dependencies.clock.now())
        return Sender(found: found, changeCount: changeCount)
    }

    /// Admits a request that is there as a whole to its endpoint, and counts it and its body.
    private func admit(_ addressed: AddressedRequest) throws -> AdmittedRequest {
        let sender = look(up: addressed)
        let counted = try rates.count(addressed, sender.found.result, isWhole: true)
        try containers.count(addressed, sender.found.result, isWhole: true)
        let admitted = try admit(addressed, sender, counted: counted)
        try addressed.exchange.countBody(to: admitted.identified)
        return admitted
    }

    /// Admits a request whose sender has been looked up.
    ///
    /// - Throws: `Fault` for a sender who is not believed, for an address without an endpoint, and for a sender of a
    ///   kind that the endpoint does not serve (rulings.md 6 and 8).
    func admit(
        _ addressed: AddressedRequest, _ sender: Sender, counted: Principal?,
        renewal: AdmittedRequest.Renewal? = nil
    ) throws(Fault) -> AdmittedRequest {
        let identified = try sender.found.result.get()
        addressed.exchange.note {
            $0.webToken = renewal?.token ?? identified.webToken
        }
        // Also before an endpoint is missed: a page sees only answers that allow its origin.
        guard let route = addressed.route else { throw Self.noEndpoint }
        guard route.serves(identified.caller, in: addressed.address.database) else {
            addressed.exchange.note { $0.refusal = .callerOfWrongKind }
            throw dependencies.authenticator.wrongKind(
                identified, isForPeople: route.audience != .containerKeys,
                origin: addressed.exchange.request.headers["origin"],
                now: dependencies.clock.now())
        }
        return AdmittedRequest(
            addressed, to: route, identified, changeCount: sender.changeCount, counted: counted,
            renewal: renewal)
    }

    /// The request as it stands now: its sender is looked up again where credentials have changed.
    ///
    /// - Throws: `Fault`, as `admit`.
    func current(_ request: AdmittedRequest) throws(Fault) -> AdmittedRequest {
        guard request.changeCount != dependencies.authenticator.changeCount else { return request }
        let sender = look(up: request.addressed)
        return try admit(
            request.addressed, sender, counted: request.counted, renewal: request.renewal)
    }
}

/// Who sent a request, as found when there had been so many changes to credentials.
struct Sender: Sendable {
    let found: Identification
    let changeCount: Int
}

/// The sender of a request as its head has told, kept until its body is there.
final class KnownSender: BodyWitness {
    let sender: Sender

    init(_ sender: Sender) { self.sender = sender }

    func see(_ bytes: UnsafeRawBufferPointer) {}
}

extension Route {
    /// Whether it serves a caller of this kind (rulings.md 6 and 8).
    fileprivate func serves(_ caller: Caller, in database: DatabaseScope?) -> Bool {
        switch caller.kind {
        case _ where audience == .containerKeys: caller.kind == .serverKey && caller.passesRoles
        case .user: true
        case .world: audience == .world && database == .public
        case .serverKey:
            audience == .anyIdentity || audience != .persons && database == .public
        }
    }
}
