import CloudModel
import RequestRecords
import Storage

/// Reads the lines that are kept of requests, the newest that are there and then what comes, until nobody wants more.
///
/// Refusals: as `ListRequests`.
package struct FollowRequests: AdministrativeAction {
    private let first: ListRequests
    private let selection: ListRequests.Selection
    private let take: ([RequestEntry]) throws -> Void
    private let wait: () -> Bool

    /// - Parameters:
    ///   - take: gets the lines, the oldest first, as often as there are new ones.
    ///   - wait: waits until it is time to look again; false when nobody wants more.
    package init(
        _ selection: ListRequests.Selection, _ request: ListRequest,
        take: @escaping ([RequestEntry]) throws -> Void, wait: @escaping () -> Bool
    ) {
        first = ListRequests(selection, request)
        self.selection = selection
        self.take = take
        self.wait = wait
    }

    package var name: String { first.name }
    package var changes: Bool { false }
    package var right: ActionRight { first.right }
    package var looksAtPrivateData: Bool { first.looksAtPrivateData }
    package var isNoted: Bool { first.isNoted }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try first.subject(in: data)
    }

    package func run(in data: any ServerData, by actor: Operator) throws {
        let begun = try first.lines(in: data)
        try take(begun.entries)
        var later = selection
        // Everything that comes later is after this.
        later.after = begun.end ?? RequestLocation(segment: 0, offset: 0)
        while wait() {
            let more = try ListRequests(later, ListRequest(limit: ListRequest.limitMax))
                .lines(in: data)
            guard !more.entries.isEmpty else { continue }
            later.after = more.end
            try take(more.entries)
        }
    }
}
