import Accounts
import CloudModel
import HTTP

/// The caller that a request counts towards: time of threads, waiting places, memory, rates.
///
/// Nobody becomes another caller by calling from elsewhere, or by naming other users. All people who have an
/// app share its bare API token, so their network addresses tell them apart.
package enum Principal: Hashable, Sendable {
    /// A person's account, by whatever token and in whatever container.
    case user(AccountID)
    /// The ID of a server key, also when it acts for users (`ckOnBehalfOf`).
    case serverKey(String)
    /// An API token by its name, which is unique over the server, as one block of addresses uses it.
    case apiToken(String, AddressBlock)
    /// Requests whose credentials are not known, or not yet believed.
    case address(AddressBlock)

    /// The addresses that count as one; nil for a client on a Unix socket.
    package typealias AddressBlock = HTTPRequest.Block?

    /// Whether it stands for somebody, and not for an address.
    var isKnown: Bool { if case .address = self { false } else { true } }

    /// The caller that a request counts towards once its credentials are verified.
    ///
    /// - Parameter block: the address block of the request's client.
    package init(_ identified: Identified, at block: AddressBlock) {
        let caller = identified.caller
        // First: a key that acts for many users is one caller.
        if let key = caller.keyID {
            self = .serverKey(key)
        } else if let account = caller.account {
            self = .user(account)
        } else if let token = identified.apiToken {
            self = .apiToken(token.name, block)
        } else {
            self = .address(block)
        }
    }

    /// The block of addresses that a request comes from.
    package static func block(of request: HTTPRequest) -> AddressBlock { request.client }
}
