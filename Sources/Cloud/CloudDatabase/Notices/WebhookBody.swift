import CloudModel
import JSON
import Storage

/// What webhooks hear of one change: its place and its kind, and nothing of the record's contents.
struct WebhookBody: Sendable {
    let identifier: String
    let scope: DatabaseScope
    let bytes: [UInt8]
    /// The `traceparent` of the request that made the change; nil for none.
    let trace: String?

    /// - Parameters:
    ///   - type: the record's; nil for a change of a zone.
    init(
        _ change: FollowedChange, word: StaticString, type: RecordTypeName?, zone: ZoneName,
        owner: UserRecordName, identifier: String, in source: NoticeSource
    ) {
        self.identifier = identifier
        trace = change.author?.trace
        scope = owner == .publicOwner ? .public : .private
        var writer = JSONWriter(reserving: 320)
        writer.raw("{\"container\":")
        writer.string(source.container?.name ?? "")
        writer.member("environment", source.environment.rawValue)
        writer.member("database", scope.rawValue)
        writer.raw(",\"zoneID\":")
        writer.raw(ZoneJSON.identifier(zone, owner: owner))
        if let name = change.name, let type {
            writer.member("recordName", name.text)
            writer.member("recordType", type.text)
        }
        writer.raw(",\"change\":\"")
        writer.raw(word)
        writer.raw("\"")
        if change.kind == .saved {
            writer.member("recordChangeTag", ChangeTag.text(change.position))
        }
        writer.raw("}")
        bytes = writer.bytes
    }
}

/// The container environment that notices are about.
package struct NoticeSource: Sendable, Hashable {
    package let container: ContainerID?
    package let environment: Environment

    package init(container: ContainerID?, environment: Environment) {
        self.container = container
        self.environment = environment
    }
}
