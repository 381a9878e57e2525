import CloudModel
import JSON

/// Finds out what there is to read in a database of CloudKit, and what of it cannot be read, before anything is.
final class CloudKitPlan {
    private static let usersType = "Users"

    private let source: CloudKitSource
    private let selection: ReadCloudKit.Selection
    private let requests: CloudKitRequests
    /// What is left out, in a line each.
    private(set) var notes: [String] = []

    init(
        _ source: CloudKitSource, _ selection: ReadCloudKit.Selection, _ requests: CloudKitRequests
    ) {
        self.source = source
        self.selection = selection
        self.requests = requests
    }

    /// - Throws: `RecordsRefusal` when something that is wanted cannot be read; as `CloudKitRequests.answer`.
    func steps() throws -> [CloudKitProgress.Step] {
        let zones = source.scope == .public ? [] : try zones()
        let types = try types()
        guard !zones.isEmpty || !types.isEmpty else {
            throw RecordsRefusal("there is nothing to read")
        }
        return zones.map { .zone($0) } + types.map { .type($0) }
    }

    /// The zones that have feeds: all but the default zone.
    private func zones() throws -> [String] {
        let answer = try requests.answer(to: "zones/list", Array("{}".utf8))
        let found = (answer["zones"]?.elements ?? answer.elements)
            .filter { $0["deleted"]?.bool != true }
            .compactMap { $0["zoneID"]?["zoneName"]?.string }
            .filter { $0 != ZoneName.defaultZone.text }
        guard let wanted = selection.zone else { return found }
        if wanted == ZoneName.defaultZone.text { return [] }
        guard found.contains(wanted) else {
            throw RecordsRefusal("there is no zone '\(Fault.shown(wanted))' at \(source.host)")
        }
        return [wanted]
    }

    /// The types of the default zone, which has no feed.
    private func types() throws -> [String] {
        if let zone = selection.zone, zone != ZoneName.defaultZone.text { return [] }
        var wanted = selection.type.map { [$0] } ?? []
        if wanted.isEmpty, let schema = selection.schema {
            wanted = schema.types.keys.map(\.text).sorted()
                .filter { $0 != Self.usersType && $0 != RecordTypeName.share.text }
        }
        guard !wanted.isEmpty else {
            guard source.scope != .public else {
                throw RecordsRefusal(
                    "the types have to be named: --schema-file FILE, as cktool export-schema writes "
                        + "it, or --type T")
            }
            notes.append(
                "the default zone is not read: it has no feed, and no --schema-file names types to "
                    + "ask for")
            return []
        }
        var unreadable: [String] = []
        var readable: [String] = []
        for type in wanted {
            if let reason = try obstacle(to: type) {
                unreadable.append("\(type) (\(reason))")
            } else {
                readable.append(type)
            }
        }
        guard !unreadable.isEmpty else { return readable }
        let list = unreadable.joined(separator: ", ")
        guard selection.skipsUnreadable else {
            throw RecordsRefusal(
                "nothing was read, because these types cannot be: \(list). Give recordName the index "
                    + "QUERYABLE in CloudKit Console and deploy it there, or leave them out by "
                    + "--skip-unreadable")
        }
        notes.append("not read: \(list)")
        return readable
    }

    /// Why the records of a type cannot be asked for; nil when they can.
    ///
    /// The service is asked: its schema may have changed since the file was written.
    private func obstacle(to type: String) throws -> String? {
        do {
            _ = try requests.answer(
                to: "records/query", CloudKitPage.query(type, after: "", limit: 1))
            return nil
        } catch let refusal as CloudKitRefusal where !refusal.isOfCredential {
            return "\(refusal)"
        }
    }
}
