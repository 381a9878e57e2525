import CloudModel

/// What is counted apart from everything else: a container's requests of one operation and one kind of client, say.
///
/// It names no person. What there is no room for counts in a series whose parts are `other`.
package struct SeriesName: Hashable, Sendable {
    package enum Kind: Int64, Sendable, CaseIterable {
        /// Requests, by operation, database and kind of client.
        case requests = 1
        /// Requests again, by kind and version of client.
        case versions = 2
        /// Notices, by what carried them (`operation`).
        case notices = 3
    }

    /// What takes the place of a name for which there is no room, or that is not known to be one.
    package static let other = "other"

    package var kind: Kind
    /// Folded: names that differ in case alone are one.
    package var container: String
    /// Empty where there is none.
    package var environment: String
    package var database: String
    package var operation: String
    package var client: String
    package var version: String

    package init(
        _ kind: Kind, container: String = other, environment: String = "", database: String = "",
        operation: String = "", client: String = "", version: String = ""
    ) {
        self.kind = kind
        self.container = container
        self.environment = environment
        self.database = database
        self.operation = operation
        self.client = client
        self.version = version
    }
}
