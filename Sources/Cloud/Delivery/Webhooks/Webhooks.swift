import CloudModel
import Cryptography
import HTTPClient
import JSON
import Storage

/// What an operator does with the webhooks of a container environment.
///
/// Blocks; what it has done is on disk when it returns.
package struct Webhooks: Sendable {
    /// Of one container environment.
    package static let countMax = 20
    private static let replayedAtOnceMax = 100
    private static let countedMax = 10_000

    /// A webhook as operators see it.
    package struct Entry: Sendable, Equatable {
        package let name: String
        package let url: String
        package let madeAt: Milliseconds
        /// How many attempts have failed, one after the other.
        package let failures: Int
        /// Notices that wait, and that were given up, counted up to 10,000.
        package let waiting: Int
        package let dead: Int
        /// Why the last one was given up; nil for none.
        package let lastReason: String?
    }

    private let storage: any Store
    private let container: ContainerID
    private let environment: Environment
    private let secrets: SealedSecrets
    private let random: RandomSource
    private let renewFollowing: @Sendable (any StoreTransaction) throws -> Void

    /// - Parameter renewFollowing: begins or ends to have changes noted, as the webhooks of the transaction now
    ///   are.
    package init(
        of container: ContainerID, _ environment: Environment, in storage: any Store,
        secrets: SealedSecrets, random: RandomSource,
        renewFollowing: @escaping @Sendable (any StoreTransaction) throws -> Void
    ) {
        self.renewFollowing = renewFollowing
        self.storage = storage
        self.container = container
        self.environment = environment
        self.secrets = secrets
        self.random = random
    }

    /// Adds a webhook that hears of every change from now on.
    ///
    /// - Parameter name: nil to have one made up.
    /// - Returns: its name, and the signing key, which is shown this once.
    /// - Throws: `DeliveryRefusal`, `StorageFailure`.
    package func add(
        _ text: String, name: String?
    ) throws -> (name: String, signingKey: String) {
        guard let url = TargetURL(text) else { throw DeliveryRefusal.webhookURLIllegal }
        let name = name ?? "webhook-\(Hexadecimal.encode(random.bytes(4)))"
        let key = random.bytes(WebhookSignature.keyBytes)
        let sealed = secrets.seal(key, for: WebhookAddress.subject(container, environment))
        guard let address = WebhookAddress(name: name, url: url, sealedKey: sealed) else {
            throw DeliveryRefusal.webhookNameIllegal
        }
        try storage.writeAndWait(caller: .background) { [renewFollowing] transaction in
            let known = try transaction.destinations(ofKind: .webhook)
            guard !known.contains(where: { $0.key == address.key }) else {
                throw DeliveryRefusal.webhookExists
            }
            guard known.count < Self.countMax else {
                throw DeliveryRefusal.tooManyWebhooks(Self.countMax)
            }
            _ = try transaction.register(
                NewDestination(
                    kind: .webhook, key: address.key, user: nil, address: address.bytes))
            try renewFollowing(transaction)
        }
        return (name, WebhookSignature.shown(key))
    }

    /// All of them, in the order in which they were made.
    ///
    /// - Throws: `StorageFailure`.
    package func list() throws -> [Entry] {
        try storage.read { snapshot in
            let found = try snapshot.destinations(ofKind: .webhook)
            func summaries(_ state: NoticeState) throws -> [NoticeSummary] {
                try snapshot.noticeSummaries(
                    state, for: found.map(\.number), countedMax: Self.countedMax)
            }
            let notices = try zip(summaries(.waiting), summaries(.dead))
            return zip(found, notices).compactMap { destination, notices in
                guard let address = WebhookAddress(bytes: destination.address) else { return nil }
                let (waiting, dead) = notices
                return Entry(
                    name: address.name, url: "\(address.url)", madeAt: destination.madeAt,
                    failures: destination.failures,
                    waiting: waiting.count, dead: dead.count, lastReason: dead.lastEnd?.reason)
            }
        }
    }

    /// What was given up for one of them, the oldest first, after a notice.
    ///
    /// - Throws: `DeliveryRefusal.webhookUnknown`, `StorageFailure`.
    package func deadLetters(
        of name: String, after number: NoticeNumber, limit: Int
    ) throws -> [StoredNotice] {
        try storage.read { snapshot in
            try snapshot.notices(
                .dead(Self.find(name, in: snapshot).number), after: number, limit: limit)
        }
    }

    /// Sends everything again that was given up.
    ///
    /// - Returns: how many notices.
    /// - Throws: `DeliveryRefusal.webhookUnknown`, `StorageFailure`.
    package func replay(_ name: String) throws -> Int {
        var total = 0
        while true {
            let count = try storage.writeAndWait(caller: .background) { transaction in
                try transaction.replayDeadLetters(
                    of: try Self.find(name, in: transaction).number, limit: Self.replayedAtOnceMax)
            }
            total += count
            if count < Self.replayedAtOnceMax { return total }
        }
    }

    /// Ends a webhook, with all that waits for it and was given up.
    ///
    /// - Throws: `DeliveryRefusal.webhookUnknown`, `StorageFailure`.
    package func remove(_ name: String) throws {
        try storage.writeAndWait(caller: .background) { [renewFollowing] transaction in
            try transaction.removeDestination(Self.find(name, in: transaction).number)
            try renewFollowing(transaction)
        }
    }

    /// Seals the signing keys under the first key of the server that are under another one.
    ///
    /// - Returns: how many it has, how many were so before, and how many none of the server's keys opens.
    /// - Throws: `StorageFailure`.
    package func reseal() throws -> (resealed: Int, current: Int, unreadable: Int) {
        let subject = WebhookAddress.subject(container, environment)
        // Most environments have none, and need no write.
        guard try storage.read({ try !$0.destinations(ofKind: .webhook).isEmpty }) else {
            return (0, 0, 0)
        }
        return try storage.writeAndWait(caller: .background) { [secrets] transaction in
            var counts = (resealed: 0, current: 0, unreadable: 0)
            for destination in try transaction.destinations(ofKind: .webhook) {
                guard let address = WebhookAddress(bytes: destination.address) else { continue }
                guard secrets.isStale(address.sealedKey) else {
                    counts.current += 1
                    continue
                }
                // NB: what does not open is counted, and said.
                guard let key = try? secrets.open(address.sealedKey, for: subject),
                    let renewed = WebhookAddress(
                        name: address.name, url: address.url,
                        sealedKey: secrets.seal(key, for: subject))
                else {
                    counts.unreadable += 1
                    continue
                }
                _ = try transaction.register(
                    NewDestination(
                        kind: .webhook, key: renewed.key, user: nil, address: renewed.bytes))
                counts.resealed += 1
            }
            return counts
        }
    }

    /// A notice to test a webhook with: it tells of no change and waits in no outbox.
    ///
    /// - Throws: `DeliveryRefusal.webhookUnknown`, `StorageFailure`.
    package func testNotice(of name: String, now: Milliseconds) throws -> OutgoingNotice {
        let destination = try storage.read { try Self.find(name, in: $0) }
        var writer = JSONWriter(reserving: 256)
        writer.raw("{\"container\":")
        writer.string(container.name)
        writer.member("environment", environment.rawValue)
        writer.raw(",\"change\":\"test\"}")
        return OutgoingNotice(
            container: container, environment: environment, destination: destination,
            notice: StoredNotice(
                number: NoticeNumber(0), destination: destination.number,
                identifier: UniqueID.random(random), scope: .public, collapseID: nil,
                payload: writer.bytes, madeAt: now), now: now)
    }

    private static func find(
        _ name: String, in reading: any DestinationReading
    ) throws -> StoredDestination {
        guard let found = try reading.destination(.webhook, key: Array(name.utf8)) else {
            throw DeliveryRefusal.webhookUnknown
        }
        return found
    }
}
