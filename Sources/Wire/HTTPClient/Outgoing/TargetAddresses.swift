import Network

/// The addresses of one origin's name: looked up, looked at by the policy, and used for a while.
///
/// The one way from a name that others have given to an address that a connection is made to. Belongs to
/// the loop's thread.
package final class TargetAddresses: @unchecked Sendable {
    // Unchecked: used on the loop's thread alone, to which the answer of a look-up is posted.

    private let origin: HTTPOrigin
    private let namer: TargetNamer
    private let policy: TargetPolicy
    private let loop: EventLoop
    private let millisecondsMax: Int
    private let resolve: OutgoingRequests.Resolve
    private var found: [ResolvedAddress] = []
    private var foundAt: UInt64 = 0
    /// Whether a look-up is under way.
    package private(set) var isLooking = false

    /// - Parameter millisecondsMax: for how long addresses are used before the name is looked up again.
    package init(
        of origin: HTTPOrigin, namedBy namer: TargetNamer, policy: TargetPolicy,
        on loop: EventLoop, millisecondsMax: Int,
        resolve: @escaping OutgoingRequests.Resolve
    ) {
        self.origin = origin
        self.namer = namer
        self.policy = policy
        self.loop = loop
        self.millisecondsMax = millisecondsMax
        self.resolve = resolve
    }

    /// The addresses that may be connected to now; nil when they have to be looked up.
    package var current: [ResolvedAddress]? {
        found.isEmpty || loop.now &- foundAt > UInt64(millisecondsMax) ? nil : found
    }

    /// Makes the next connection look them up again.
    package func forget() { found = [] }

    /// Looks the name up, unless that is under way, and tells why `current` has none; nil when it has.
    ///
    /// What is told comes on the loop's thread, to one of those who ask meanwhile.
    package func look(_ then: @escaping @Sendable (ClientFailure?) -> Void) {
        if isLooking { return }
        isLooking = true
        resolve(origin.host, origin.port) { [self] outcome in
            loop.post { self.wasResolved(outcome, then) }
        }
    }

    private func wasResolved(
        _ outcome: NameResolver.Outcome, _ then: (ClientFailure?) -> Void
    ) {
        isLooking = false
        switch outcome {
        case .failure(let error): then(.unreachable("\(error)"))
        case .success(let addresses):
            do throws(TargetRefusal) {
                guard !addresses.isEmpty else {
                    return then(.unreachable("the name has no address"))
                }
                try policy.require(origin, namedBy: namer, at: addresses)
            } catch {
                return then(.refused(error))
            }
            found = addresses
            foundAt = loop.now
            then(nil)
        }
    }
}
