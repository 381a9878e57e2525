import CloudModel

/// What requests have in common that count in the same series; compared with each request.
struct LiveKey: Hashable {
    let container: String
    let environment: Environment?
    let database: DatabaseScope?
    let operation: String
    let softwareHash: UInt64

    init(_ request: borrowing MeasuredRequest) {
        container = request.container
        environment = request.environment
        database = request.database
        operation = request.operation
        softwareHash = request.softwareHash
    }

    /// Of what tells most of them apart: comparing the few that meet costs less than hashing each letter.
    ///
    /// Nobody makes many keys that meet: containers and operations are few, and software goes in whole.
    func hash(into hasher: inout Hasher) {
        let lengths = operation.utf8.count &* 256 &+ container.utf8.count
        hasher.combine(softwareHash &+ UInt64(truncatingIfNeeded: lengths) &* 0x9e37_79b9_7f4a_7c15)
    }
}

/// Where the requests of one key count.
final class LiveEntry {
    /// With its place in a dictionary.
    static let bytes = 256

    let key: LiveKey
    let totals: LiveTotals

    init(_ key: LiveKey, _ totals: LiveTotals) {
        self.key = key
        self.totals = totals
    }

    func takes(_ request: borrowing MeasuredRequest) -> Bool {
        key.softwareHash == request.softwareHash && key.operation == request.operation
            && key.container == request.container && key.database == request.database
            && key.environment == request.environment
    }
}

/// What tells requests apart while they are counted.
struct LiveName: Hashable, Sendable {
    var container: String
    var environment: Environment?
    var database: DatabaseScope?
    var operation: String
    var client: String
    var version: String

    /// All that there is no room for.
    static let other = LiveName(
        container: SeriesName.other, operation: SeriesName.other, client: SeriesName.other,
        version: SeriesName.other)

    init(
        container: String, environment: Environment? = nil, database: DatabaseScope? = nil,
        operation: String, client: String, version: String
    ) {
        self.container = container
        self.environment = environment
        self.database = database
        self.operation = operation
        self.client = client
        self.version = version
    }

    init(_ request: borrowing MeasuredRequest, _ client: MeasuredClient) {
        self.init(
            container: request.container, environment: request.environment,
            database: request.database, operation: request.operation, client: client.kind,
            version: client.version)
    }

    /// The series of requests that it counts in.
    var requests: SeriesName {
        SeriesName(
            .requests, container: container.lowercased(), environment: environment?.rawValue ?? "",
            database: database?.rawValue ?? "", operation: operation, client: client)
    }

    /// The series of versions that it counts in; nil where no client says what it is.
    var versions: SeriesName? {
        guard !client.isEmpty else { return nil }
        return SeriesName(
            .versions, container: container.lowercased(), environment: environment?.rawValue ?? "",
            client: client, version: version)
    }
}

/// Totals that many requests add to, one after the other.
final class LiveTotals {
    /// With its names and its places in dictionaries.
    static let bytesMin = 640
    /// Of an array that may have room for twice as much as it holds.
    private static let bytesPerBucket = 16
    private static let bytesPerCode = 96
    private static let sketchBytes = 304

    private(set) var totals = TelemetryTotals()

    /// Counts a request.
    ///
    /// - Returns: how many bytes more it takes since.
    func note(_ request: borrowing MeasuredRequest, _ hash: UserHash) -> Int {
        Self.note(request, hash, in: &totals)
    }

    /// The totals are looked for once.
    private static func note(
        _ request: borrowing MeasuredRequest, _ hash: UserHash, in totals: inout TelemetryTotals
    ) -> Int {
        let buckets = totals.latency.counts.count
        totals.latency.record(nanoseconds: request.nanoseconds)
        totals.microseconds &+= request.nanoseconds / 1_000
        totals.bytesIn &+= UInt64(max(0, request.bytesIn))
        totals.bytesOut &+= UInt64(max(0, request.bytesOut))
        let growth = (totals.latency.counts.count &- buckets) &* bytesPerBucket
        guard let failure = request.failure else { return growth }
        let before = failureBytes(of: totals)
        if let error = failure.error { totals.errors[error, default: 0] &+= 1 }
        for (code, count) in failure.itemFaults {
            totals.itemFaults[code, default: 0] &+= UInt64(max(0, count))
        }
        if let user = failure.user { totals.affected.record(hash.of(user)) }
        return growth + failureBytes(of: totals) - before
    }

    private static func failureBytes(of totals: TelemetryTotals) -> Int {
        (totals.errors.count + totals.itemFaults.count) * bytesPerCode
            + (totals.affected.isEmpty ? 0 : sketchBytes)
    }

    /// Whether a request can be counted without taking more memory.
    func hasRoom(for request: borrowing MeasuredRequest) -> Bool {
        guard totals.latency.covers(nanoseconds: request.nanoseconds) else { return false }
        guard let failure = request.failure else { return true }
        return failure.error.map { totals.errors[$0] != nil } ?? true
            && failure.itemFaults.allSatisfy { totals.itemFaults[$0.code] != nil }
            && (failure.user == nil || !totals.affected.isEmpty)
    }
}
