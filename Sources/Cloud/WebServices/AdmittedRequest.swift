import Accounts
import CloudModel
import Storage

/// A request that goes to an address of the protocol.
struct AddressedRequest: Sendable {
    let exchange: Exchange
    let address: RequestAddress
    /// Nil where no endpoint has the address.
    let route: Route?
}

/// A request whose sender is known and may call its endpoint.
///
/// It is identified and counted once, however often its answer is made again. Only a change of credentials in the
/// meantime makes the server look again who sent it.
final class AdmittedRequest: Sendable {
    let exchange: Exchange
    let address: RequestAddress
    let route: Route
    let identified: Identified
    /// How many changes to credentials there had been when its sender was looked up.
    let changeCount: Int
    /// The caller that its use counts towards.
    let principal: Principal
    /// The caller whose rate it counts towards; nil when no rate limits it.
    let counted: Principal?
    /// Nil as long as nobody has tried to make its web token again.
    let renewal: Renewal?

    /// What has become of making a web token again.
    struct Renewal: Sendable {
        /// Nil where it could not be made.
        let token: String?
    }

    init(
        _ addressed: AddressedRequest, to route: Route, _ identified: Identified, changeCount: Int,
        counted: Principal?, renewal: Renewal? = nil
    ) {
        exchange = addressed.exchange
        address = addressed.address
        self.route = route
        self.identified = identified
        self.changeCount = changeCount
        principal = Principal(identified, at: addressed.exchange.request.client)
        self.counted = counted
        self.renewal = renewal
    }

    var addressed: AddressedRequest {
        AddressedRequest(exchange: exchange, address: address, route: route)
    }

    /// The same request, once its web token has been made again.
    func renewed(_ token: String?) -> AdmittedRequest {
        exchange.note { $0.webToken = token ?? $0.webToken }
        return AdmittedRequest(
            addressed, to: route, identified, changeCount: changeCount, counted: counted,
            renewal: Renewal(token: token))
    }
}

/// What comes next for a request, as its endpoint says.
enum NextStep: Sendable {
    /// It is answered with this.
    case answer([UInt8])
    /// The one that has taken on its change answers it.
    case handedOn
    /// Workers begin again: it is long, or has to wait for a commit where that holds up nobody.
    case again(on: Workers.Lane)
    /// It has nothing to show yet, but soon may: it waits, and is answered again.
    case wait(EarlyAnswer)
}

/// An answer that shows nothing yet.
struct EarlyAnswer: Sendable {
    /// The places that change when there may be something to show.
    let parts: Set<StorePart>
    /// What to send when it has waited enough.
    let outcome: Result<[UInt8], Fault>
    let millisecondsMax: Int

    init(parts: Set<StorePart>, outcome: Result<[UInt8], Fault>, millisecondsMax: Int) {
        self.parts = parts
        // It was made with room for far more, which nobody needs while it waits.
        self.outcome = outcome.map { body in body.withUnsafeBytes { Array($0) } }
        self.millisecondsMax = millisecondsMax
    }
}
