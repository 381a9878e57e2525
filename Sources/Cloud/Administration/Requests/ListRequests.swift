import Accounts
import CloudModel
import RequestRecords
import Storage

/// Reads the lines that are kept of requests, the newest on the first page.
///
/// Refusals: `AccountsRefusal.emailIllegal`, `userUnknown`, `containerNameIllegal`,
/// `CatalogRefusal.containerUnknown`, `RequestsRefusal`, `UnusableCursor`.
package struct ListRequests: AdministrativeAction {
    /// Some lines, the oldest of them first.
    package struct Outcome: Sendable {
        package let entries: [RequestEntry]
        /// The page of the lines before them; nil when there are none.
        package let next: ListCursor?
        /// Where to go on later with those that have come meanwhile.
        package let end: RequestLocation?
    }

    /// Which are asked for.
    package struct Selection: Sendable {
        package var container: String?
        package var email: String?
        package var operation: String?
        package var code: String?
        package var since: Milliseconds = .min
        /// Lines of that moment and later are left out.
        package var until: Milliseconds = .max
        /// Those that came after these.
        package var after: RequestLocation?

        package init() {}
    }

    package var name: String { "logs" }

    private static let list = "requests"

    private let selection: Selection
    private let request: ListRequest

    package init(_ selection: Selection, _ request: ListRequest) {
        self.selection = selection
        self.request = request
    }

    package var changes: Bool { false }
    package var right: ActionRight { .container }
    package var looksAtPrivateData: Bool { selection.email != nil }
    package var isNoted: Bool { true }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(
            container: try selection.container.map { try data.containers.find($0).id },
            account: try selection.email.map { try data.users.find(email: $0).id })
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        try lines(in: data)
    }

    func lines(in data: any ServerData) throws -> Outcome {
        guard let stored = try data.requests() else { throw RequestsRefusal.nothingIsKept }
        var filter = RequestFilter(
            container: try selection.container.map { try data.containers.find($0).id.name },
            operation: selection.operation, code: selection.code, since: selection.since,
            until: selection.until, after: selection.after, before: try before())
        if let email = selection.email {
            let users = try data.recordNames(of: try data.users.find(email: email))
            filter.person = try stored.person(users)
        }
        var (entries, first, last): ([RequestEntry], RequestLocation?, RequestLocation?) = (
            [], nil, nil
        )
        var isMore = false
        try stored.newest(filter) { location, entry in
            guard entries.count < request.limit else {
                isMore = true
                return false
            }
            entries.append(entry)
            first = location
            if last == nil { last = location }
            return true
        }
        let next = first.flatMap { first in
            isMore
                ? ListCursor(list: Self.list, fields: ["\(first.segment)", "\(first.offset)"]) : nil
        }
        return Outcome(entries: entries.reversed(), next: next, end: last ?? selection.after)
    }

    private func before() throws(UnusableCursor) -> RequestLocation? {
        guard let cursor = request.after else { return nil }
        let fields = try cursor.fields(of: Self.list, count: 2)
        guard let segment = UInt64(fields[0]), let offset = UInt32(fields[1]) else {
            throw UnusableCursor()
        }
        return RequestLocation(segment: segment, offset: offset)
    }
}

/// Why nothing can be said of requests.
package enum RequestsRefusal: Error, Sendable, CustomStringConvertible {
    case nothingIsKept

    package var description: String {
        "nothing is kept of requests: requests.bytesMax is 0"
    }
}

extension ServerData {
    /// The names by which containers know an account.
    package func recordNames(of account: AccountRecord) throws -> Set<String> {
        var names: Set<String> = []
        try forEachEnvironment { target in
            names.insert(try users.derivedName(of: account, in: target.container).text)
        }
        return names
    }
}
