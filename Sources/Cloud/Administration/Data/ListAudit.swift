import Audit
import CloudModel

/// Reads what is noted of operators' actions, and finds where the notes were changed.
package struct ListAudit: AdministrativeAction {
    package var name: String { "audit list" }

    private let since: Milliseconds
    private let limit: Int

    /// - Parameter limit: of entries; of more, the newest.
    package init(since: Milliseconds = .min, limit: Int) {
        self.since = since
        self.limit = limit
    }

    package var changes: Bool { false }

    package func run(in data: any ServerData, by actor: Operator) throws -> AuditReport {
        try data.auditReport(since: since, limit: limit)
    }
}
