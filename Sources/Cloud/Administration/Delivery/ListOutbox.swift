import CloudModel
import Delivery
import Storage

/// Lists where notices of an environment go and what waits for each; of one user also those for whom nothing waits.
///
/// Refusals: `AccountsRefusal.emailIllegal`, `userUnknown`.
package struct ListOutbox: AdministrativeAction {
    /// What waits for a device, a browser or a webhook.
    package struct Entry: Sendable {
        package let kind: DestinationKind
        /// Nil for a webhook's and for a user without an address.
        package let email: String?
        /// The app's own name for the device, or the webhook's name; nil for none.
        package let device: String?
        /// How many attempts have failed, one after the other.
        package let failures: Int
        /// Counted up to 1,000.
        package let waiting: Int
        /// When the oldest of them was made.
        package let since: Milliseconds?
        /// When the device was last heard of, to the hour.
        package let used: Milliseconds
    }

    /// What there is.
    package struct Outcome: Sendable {
        /// The longest due first; webhooks among them.
        package let entries: [Entry]
        /// Whether something waits for more destinations than are told of.
        package let isCut: Bool
        /// Of the whole environment.
        package let waiting: Int
        package let oldest: Milliseconds?
    }

    package var name: String { "outbox list" }

    package var right: ActionRight { .container.ofPerson }

    private static let countedMax = 1_000
    private static let destinationsMax = 200

    private let target: NamedEnvironment
    private let email: String?

    /// - Parameter email: whose devices; nil for all for whom something waits.
    package init(of target: NamedEnvironment, email: String? = nil) {
        self.target = target
        self.email = email
    }

    package var changes: Bool { false }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, email: email)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        let container = try target.found(in: data).container
        let user = try email.map {
            try data.users.derivedName(of: data.users.find(email: $0), in: container)
        }
        return try target.store(in: data).read { snapshot in
            let found =
                try user.map { try snapshot.destinations(of: $0) }
                ?? snapshot.destinationsDue(by: .max, limit: Self.destinationsMax + 1)
            let users = Set(found.compactMap(\.user))
            let emails = try data.users.emails(of: users, in: container)
            let shown = found.prefix(Self.destinationsMax)
            let waiting = try snapshot.noticeSummaries(
                .waiting, for: shown.map(\.number), countedMax: Self.countedMax)
            let state = try snapshot.noticeSummary(.waiting)
            return Outcome(
                entries: zip(shown, waiting).map { destination, waiting in
                    Self.entry(of: destination, destination.user.flatMap { emails[$0] }, waiting)
                }, isCut: found.count > Self.destinationsMax, waiting: state.count,
                oldest: state.oldest)
        }
    }

    private static func entry(
        of destination: StoredDestination, _ email: String?, _ waiting: NoticeSummary
    ) -> Entry {
        let webhook =
            destination.kind == .webhook ? String(decoding: destination.key, as: UTF8.self) : nil
        return Entry(
            kind: destination.kind, email: email, device: webhook ?? destination.device,
            failures: destination.failures, waiting: waiting.count,
            since: waiting.oldest, used: destination.usedAt)
    }
}
