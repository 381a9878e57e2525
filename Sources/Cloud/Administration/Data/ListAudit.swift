import Audit
import CloudModel
import Storage

/// Reads what is noted of operators' actions, the newest on the first page, and finds where these notes were
/// changed.
///
/// Refusals: `UnusableCursor`.
package struct ListAudit: AdministrativeAction {
    package struct Outcome: Sendable {
        package let page: AuditPage
        package let next: ListCursor?
    }

    package var name: String { "audit list" }

    package var right: ActionRight { .server }

    private static let list = "audit"

    private let since: Milliseconds
    private let request: ListRequest

    /// - Parameter since: entries before it are left out.
    package init(_ request: ListRequest, since: Milliseconds = .min) {
        self.request = request
        self.since = since
    }

    package var changes: Bool { false }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        let end = try request.after.map { cursor throws(UnusableCursor) in
            guard let end = Int64(try cursor.fields(of: Self.list, count: 1)[0]) else {
                throw UnusableCursor()
            }
            return end
        }
        do {
            let page = try data.auditPage(
                before: end, since: since, prefix: request.prefix, limit: request.limit)
            return Outcome(
                page: page, next: page.next.map { ListCursor(list: Self.list, fields: ["\($0)"]) })
        } catch AuditFailure.locationUnknown {
            throw UnusableCursor()
        }
    }
}
