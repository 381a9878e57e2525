import Network

/// Why a target may not be reached.
package enum TargetRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// Only networks that the operator has allowed are spoken to without TLS.
    case notSecure
    /// One of the name's addresses is not on the internet.
    case notPublic(address: String)

    package var description: String {
        switch self {
        case .notSecure: "it is not https"
        case .notPublic(let address):
            "it leads to \(address), which is neither on the internet nor in "
                + "outgoing.allowedNetworks"
        }
    }
}

/// Who has named a request's target.
package enum TargetNamer: Sendable, Hashable {
    /// The operators of the server, by a setting or a command: webhooks, identity providers, senders of text
    /// messages, Apple's push service.
    case operators
    /// A user of the server: the place where their browser's pushes go.
    case users
}

/// Which targets may be reached that users or configurations name: webhooks, senders of pushes and text
/// messages, identity providers.
///
/// Nobody may use the server to reach what only the server can reach: itself, its network, the cloud's own
/// services. So the server looks up a name, checks all of its addresses, and connects to one of these. A name
/// with an allowed and a forbidden address is refused: chance would decide which one is used. Redirects are not
/// followed. Exceptions hold for what operators name, never for what users do.
package struct TargetPolicy: Sendable {
    private let allows: @Sendable (String) -> Bool

    /// - Parameter allows: whether a numeric address lies in `outgoing.allowedNetworks`.
    package init(allows: @escaping @Sendable (String) -> Bool) { self.allows = allows }

    /// Looks at all addresses that a target's name has.
    ///
    /// Without TLS every one has to be allowed; with TLS each has to be public or allowed. For users none is
    /// allowed.
    /// - Throws: `TargetRefusal`.
    package func require(
        _ origin: HTTPOrigin, namedBy namer: TargetNamer, at addresses: [ResolvedAddress]
    ) throws(TargetRefusal) {
        for address in addresses where namer == .users || !allows("\(address)") {
            guard AddressScope.isPublic(address.bytes) else {
                throw .notPublic(address: "\(address)")
            }
            guard origin.isSecure else { throw .notSecure }
        }
    }
}
