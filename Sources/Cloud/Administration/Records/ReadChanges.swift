import CloudDatabase
import CloudModel
import Cryptography
import JSON
import Storage

/// Reads one page of a zone's change feed, the oldest change first, as `changes/zone` answers it.
///
/// The public database has a feed for operators whether or not its container lets apps follow it. Refusals: as
/// `ListRecords`; also a token that is of another feed or too old.
package struct ReadChanges: OperatedReading {
    package struct Outcome: Sendable {
        /// Records as they are now, and what was deleted.
        package let records: [[UInt8]]
        /// Goes on behind them, whenever it is shown.
        package let token: String
        /// Whether there is more at once.
        package let moreComing: Bool
    }

    package let target: OperatedDatabase
    private let token: String?
    private let limit: Int

    /// - Parameters:
    ///   - token: what an earlier page ended with; nil for the zone's beginning.
    ///   - limit: so many records at most; a page may have fewer.
    package init(in target: OperatedDatabase, after token: String? = nil, limit: Int) {
        self.target = target
        self.token = token
        self.limit = limit
    }

    package var name: String { "record changes" }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        try page(in: data)
    }

    /// The page behind this one.
    fileprivate func next(after token: String) -> ReadChanges {
        ReadChanges(in: target, after: token.isEmpty ? nil : token, limit: limit)
    }

    fileprivate func page(in data: any ServerData) throws -> Outcome {
        let opened = try target.opened(in: data)
        let limits = opened.database.limits
        var budget = PageBudget(
            bytes: limits.pageBytesMax,
            rows: max(limits.feedRowsPerPageMax, limits.recordsPerResponseMax))
        return try RecordsRefusal.of {
            try opened.database.storage.read { snapshot in
                let feed = try FetchZoneChanges(
                    opened.database, key: HMACSHA256(key: opened.tokenKey), snapshot: snapshot,
                    servesPublic: true)
                var writer = JSONWriter(reserving: 65_536)
                writer.raw("[")
                let page = try feed.append(
                    ZoneChangesRequest(zone: opened.zone, syncToken: token, resultsLimit: limit),
                    to: &writer, budget: &budget)
                writer.raw("]")
                let records = try JSONDocument(parsing: writer.bytes).root.elements.map { element in
                    element.withRawBytes { [UInt8]($0) }
                }
                return Outcome(
                    records: records, token: page.syncToken, moreComing: page.moreComing)
            }
        }
    }
}

/// Reads a zone's changes page by page, and then what comes, until nobody wants more; noted once.
///
/// Refusals: as `ReadChanges`.
package struct FollowChanges: AdministrativeAction {
    private let first: ReadChanges
    private let take: (ReadChanges.Outcome) throws -> Void
    private let wait: () -> Bool

    /// - Parameters:
    ///   - take: gets each page that has something, and the first one.
    ///   - wait: waits until it is time to look again; false when nobody wants more.
    package init(
        _ first: ReadChanges, take: @escaping (ReadChanges.Outcome) throws -> Void,
        wait: @escaping () -> Bool
    ) {
        self.first = first
        self.take = take
        self.wait = wait
    }

    package var name: String { first.name }
    package var changes: Bool { false }
    package var right: ActionRight { first.right }
    package var looksAtPrivateData: Bool { first.looksAtPrivateData }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try first.subject(in: data)
    }

    package func run(in data: any ServerData, by actor: Operator) throws {
        var page = try first.page(in: data)
        try take(page)
        while page.moreComing || wait() {
            page = try first.next(after: page.token).page(in: data)
            if !page.records.isEmpty { try take(page) }
        }
    }
}
