import CloudModel

/// Keeps what was counted, beside the data and never through its writer.
///
/// Everything blocks and may be called from any thread but an event loop's. What it returns from is on the disk.
package protocol TelemetryStorage: Sendable {
    /// Under which users are counted here, so that no other server's counts can be compared with these.
    var userHash: UserHash { get }

    /// Adds to the row of each step what was counted in a minute, and removes rows that are past their time.
    func add(_ minute: TelemetryMinute) throws

    /// The rows of the series that are asked for, by series, each by time.
    func rows(_ question: RowQuestion) throws -> [SeriesRows]

    /// Notes how much a container environment holds; of a day the last note counts.
    func note(_ figures: ContainerFigures) throws

    /// What was noted of a container environment between two days, the oldest first.
    func figures(
        of container: String, in environment: String, days: ClosedRange<Int64>
    ) throws -> [ContainerFigures]

    /// Notes that the server begins to serve, once a minute; what no chart reaches any more is removed.
    func noteStart(at now: Milliseconds) throws

    /// The minutes in which the server began to serve, the latest so many of some time, the oldest first.
    func starts(in moments: Range<Milliseconds>, limit: Int) throws -> [Milliseconds]

    /// The alerts, by name.
    func alerts() throws -> [AlertRule]

    /// - Throws: `AlertRefusal.exists`, `tooMany`.
    func add(_ alert: AlertRule) throws

    /// - Throws: `AlertRefusal.unknown`.
    func removeAlert(_ name: String) throws

    /// Notes how far the telling of an alert has come.
    ///
    /// - Returns: false, with nothing noted, when the alert is gone, or another process has gone on with it since it was
    ///   read.
    func note(_ telling: AlertTelling, of alert: AlertRule) throws -> Bool

    /// How much it takes on the disk.
    var byteCount: Int64 { get }

    func close()
}

/// What was counted in one minute.
package struct TelemetryMinute: Sendable {
    package let start: Milliseconds
    package var series: [SeriesName: TelemetryTotals]

    package init(start: Milliseconds, series: [SeriesName: TelemetryTotals] = [:]) {
        self.start = start
        self.series = series
    }
}

/// Which rows somebody wants.
package struct RowQuestion: Sendable {
    package var step: TelemetryStep
    /// Of the rows' beginnings.
    package var moments: Range<Milliseconds>
    /// Nil for those of all containers, and as well below.
    package var container: String?
    package var environment: String?
    package var kinds: Set<SeriesName.Kind>

    package init(
        _ kinds: Set<SeriesName.Kind>, of container: String? = nil,
        in environment: String? = nil, step: TelemetryStep, moments: Range<Milliseconds>
    ) {
        self.kinds = kinds
        self.container = container
        self.environment = environment
        self.step = step
        self.moments = moments
    }
}

/// What is kept of one series.
package struct SeriesRows: Sendable {
    package let name: SeriesName
    package var rows: [(start: Milliseconds, totals: TelemetryTotals)]

    package init(name: SeriesName, rows: [(start: Milliseconds, totals: TelemetryTotals)] = []) {
        self.name = name
        self.rows = rows
    }
}

/// How much a container environment held on a day.
package struct ContainerFigures: Sendable, Equatable {
    package let container: String
    package let environment: String
    /// Days since 1970, in UTC.
    package let day: Int64
    package let records: Int64
    /// Of records, assets aside.
    package let recordBytes: Int64
    package let assets: Int64
    package let assetBytes: Int64
    package let tombstones: Int64
    /// Who has a zone.
    package let users: Int64

    package init(
        container: String, environment: String, day: Int64, records: Int64, recordBytes: Int64,
        assets: Int64, assetBytes: Int64, tombstones: Int64, users: Int64
    ) {
        self.container = container
        self.environment = environment
        self.day = day
        self.records = records
        self.recordBytes = recordBytes
        self.assets = assets
        self.assetBytes = assetBytes
        self.tombstones = tombstones
        self.users = users
    }

    /// The day of a moment.
    package static func day(of moment: Milliseconds) -> Int64 {
        (moment - (moment % 86_400_000 + 86_400_000) % 86_400_000) / 86_400_000
    }
}
