import CloudDatabase
import CloudModel
import JSON
import RecordDecoding
import Storage

/// Makes shares of an import again, once the records that they are for are there.
///
/// A share gets another short identifier. Who had accepted it and has an account here takes part at once; others are invited.
final class ImportShares {
    /// Hears why a line's share was not made; nil for one that was.
    typealias Ended = (ImportLine, Fault?) throws -> Void

    /// Somebody who had accepted a share.
    private struct Accepted {
        let address: String?
        let user: String?

        /// Whom here they may be; the first of them who has an account is.
        var owners: [ImportTargets.Owner] {
            let address = address.flatMap { $0.contains("@") ? $0 : nil }
            return (user.map { [.known($0)] } ?? []) + (address.map { [.named($0)] } ?? [])
        }
    }

    /// A share as it is to be saved, or is here already.
    private struct Wanted {
        let line: ImportLine
        let operation: DecodedOperation
        let accepted: [Accepted]
    }

    /// What is here under a name.
    private struct Present {
        let tag: String
        /// Of a share; nil for anything else.
        let guid: String?
    }

    private let targets: ImportTargets
    private let mode: SaveRecords.Mode
    private let mayExist: Bool
    private let limits: ServiceLimits
    private let makeName: () -> RecordName
    private let ended: Ended
    private var target: ImportTarget?
    private var lines: [(line: ImportLine, root: String?, record: ImportedRecord)] = []
    private var names: Set<String> = []
    private(set) var notes: [String] = []

    /// - Parameter mayExist: whether an attempt that was cut short may have made some of the shares.
    init(
        _ targets: ImportTargets, _ mode: SaveRecords.Mode, mayExist: Bool, limits: ServiceLimits,
        makeName: @escaping () -> RecordName, ended: @escaping Ended
    ) {
        (self.targets, self.mode, self.mayExist) = (targets, mode, mayExist)
        (self.limits, self.makeName, self.ended) = (limits, makeName, ended)
    }

    /// Adds a share.
    ///
    /// - Parameter root: the record that it is for; nil for a whole zone.
    func add(
        _ line: ImportLine, _ record: ImportedRecord, root: String?, in target: ImportTarget
    ) throws {
        let used = [record.name, root].compactMap { $0 }
        if self.target !== target || lines.count >= limits.operationsPerRequestMax
            || !names.isDisjoint(with: used)
        {
            try finish()
        }
        self.target = target
        names.formUnion(used)
        lines.append((line, root, record))
    }

    /// Saves all that were added.
    func finish() throws {
        guard let target, !lines.isEmpty else { return }
        let lines = lines
        (self.lines, names) = ([], [])
        let present: [String: Result<Present, Fault>]
        do {
            present = try self.present(
                lines.flatMap { [$0.record.name, $0.root].compactMap { $0 } }, target.opened)
        } catch let fault as Fault {
            // Their zone is gone, for one.
            for (line, _, _) in lines { try ended(line, fault) }
            return
        }
        var wanted: [Wanted] = []
        var joined: [(guid: String, accepted: [Accepted])] = []
        for (line, root, record) in lines {
            do {
                let known = try record.name.flatMap { try present[$0]?.get() }
                if let known, mode == .create {
                    guard mayExist, let guid = known.guid else {
                        throw Fault(.exists, "the share exists already")
                    }
                    try ended(line, nil)
                    joined.append((guid, Self.accepted(in: record.json)))
                    continue
                }
                wanted.append(
                    try decode(
                        line, record, tag: known?.tag,
                        root: known != nil ? nil : root.map { ($0, try present[$0]?.get().tag) },
                        target))
            } catch let fault as Fault {
                try ended(line, fault)
            }
        }
        for (share, outcome) in zip(
            wanted, try outcomes(of: wanted.map(\.operation)[...], in: target))
        {
            guard case .saved(let body, _) = outcome else {
                if case .failed(_, let fault) = outcome { try ended(share.line, fault) }
                continue
            }
            try ended(share.line, nil)
            guard let guid = try JSONDocument(parsing: body).root["shortGUID"]?.string else {
                continue
            }
            joined.append((guid, share.accepted))
        }
        try accept(joined)
    }

    /// What is here of names; a `Fault` of what cannot be read.
    private func present(
        _ names: [String], _ opened: OperatedDatabase.Opened
    ) throws -> [String: Result<Present, Fault>] {
        let items = Set(names).map {
            LookupRecords.Item(name: $0, rendering: RecordRendering(desiredKeys: []))
        }
        var present: [String: Result<Present, Fault>] = [:]
        var writer = JSONWriter()
        writer.raw("[")
        _ = try opened.database.storage.read { snapshot in
            try LookupRecords(in: opened.zone, of: opened.database, snapshot: snapshot).append(
                items, to: &writer, bytesMax: .max, goesOn: { _ in true }
            ) { item, fault, writer in
                if fault.code != .notFound { present[item.name] = .failure(fault) }
                writer.raw("{}")
            }
        }
        writer.raw("]")
        for record in try JSONDocument(parsing: writer.bytes).root.elements {
            guard let name = record["recordName"]?.string,
                let tag = record["recordChangeTag"]?.string
            else { continue }
            // A record that is shared has the short identifier of its share.
            let isShare = record["recordType"]?.stringEquals("cloudkit.share") == true
            present[name] = .success(
                Present(tag: tag, guid: isShare ? record["shortGUID"]?.string : nil))
        }
        return present
    }

    /// Saves shares together, since a new one changes its root with it; where one fails, the others by themselves.
    private func outcomes(
        of operations: ArraySlice<DecodedOperation>, in target: ImportTarget
    ) throws -> [RecordOutcome] {
        guard let first = operations.first else { return [] }
        do {
            let outcomes = try target.writer.begin(Array(operations), isAtomic: true)()
            let isWhole = outcomes.allSatisfy { if case .failed = $0 { false } else { true } }
            if isWhole || operations.count == 1 { return outcomes }
        } catch let fault as Fault where operations.count == 1 {
            return [.failed(name: first.recordName, fault)]
        } catch is Fault {
            // NB: each half says which of them are at fault.
        }
        let half = operations.count / 2
        return try outcomes(of: operations.prefix(half), in: target)
            + outcomes(of: operations.dropFirst(half), in: target)
    }

    // MARK: - What a line says

    /// - Parameters:
    ///   - tag: of the share; nil for a new one.
    ///   - root: the record that a new one is for, and its tag; nil for a whole zone.
    private func decode(
        _ line: ImportLine, _ record: ImportedRecord, tag: String?,
        root: (name: String, tag: String?)?, _ target: ImportTarget
    ) throws -> Wanted {
        var writer = JSONWriter(reserving: 2_048)
        writer.raw("{\"recordType\":\"cloudkit.share\"")
        if let name = record.name { writer.member("recordName", name) }
        if let tag { writer.member("recordChangeTag", tag) }
        if let root {
            guard let rootTag = root.tag else {
                throw Fault(
                    .notFound, "the record '\(Fault.shown(root.name))' that it shares is not there")
            }
            writer.raw(",\"forRecord\":{\"recordName\":")
            writer.string(root.name)
            writer.member("recordChangeTag", rootTag)
            writer.raw("}")
        }
        append(record.json, "fields", to: &writer)
        append(record.json, "publicPermission", to: &writer)
        append(record.json, "allowsAccessRequests", to: &writer)
        appendParticipants(record.json, to: &writer)
        writer.raw("}")
        let operation = try OperationDecoder(
            zones: ZoneReader(caller: target.opened.database.caller, scope: .private),
            rendering: .whole, limits: limits, makeName: makeName
        ).decode(
            RequestObject(JSONDocument(parsing: writer.bytes).root, key: "record"),
            as: tag == nil ? .create : .replace)
        if case .fault(_, let fault) = operation { throw fault }
        return Wanted(
            line: line, operation: operation, accepted: Self.accepted(in: record.json))
    }

    private func append(_ record: JSONValue, _ key: StaticString, to writer: inout JSONWriter) {
        guard let value = record[key] else { return }
        writer.raw(",\"")
        writer.raw(key)
        writer.raw("\":")
        value.withRawBytes { writer.raw($0) }
    }

    /// The participants but the owner, each with an address or a name.
    private static func participants(
        in record: JSONValue
    ) -> [(json: JSONValue, info: JSONValue?, person: Accepted)] {
        (record["participants"]?.elements ?? record.elements).compactMap { participant in
            if participant["type"]?.stringEquals("OWNER") == true { return nil }
            let identity = participant["userIdentity"]
            let info = identity?["lookupInfo"]
            let address = info?["emailAddress"]?.string ?? info?["phoneNumber"]?.string
            let user = identity?["userRecordName"]?.string
            guard address != nil || user != nil else { return nil }
            return (
                participant, address == nil ? nil : info, Accepted(address: address, user: user)
            )
        }
    }

    private static func accepted(in record: JSONValue) -> [Accepted] {
        participants(in: record)
            .filter { $0.json["acceptanceStatus"]?.stringEquals("ACCEPTED") == true }
            .map(\.person)
    }

    private func appendParticipants(_ record: JSONValue, to writer: inout JSONWriter) {
        writer.raw(",\"participants\":[")
        var isFirst = true
        for (participant, info, person) in Self.participants(in: record) {
            writer.separate(&isFirst)
            writer.raw("{\"userIdentity\":{\"lookupInfo\":")
            if let info {
                info.withRawBytes { writer.raw($0) }
            } else {
                writer.raw("{\"userRecordName\":")
                writer.string(person.user ?? "")
                writer.raw("}")
            }
            writer.raw("}")
            append(participant, "type", to: &writer)
            append(participant, "permission", to: &writer)
            writer.raw("}")
        }
        writer.raw("]")
    }

    // MARK: - Who had accepted

    /// Has each person accept all their shares at once.
    private func accept(_ joined: [(guid: String, accepted: [Accepted])]) throws {
        let callers = try targets.callers(
            for: Set(joined.flatMap { $0.accepted.flatMap(\.owners) }))
        var links: [AccountID: (caller: Caller, links: [(guid: String, who: String)])] = [:]
        for (guid, accepted) in joined {
            for person in accepted {
                let caller = person.owners.lazy.compactMap { callers[$0] }.first
                guard let caller, let account = caller.account else { continue }
                links[account, default: (caller, [])].links.append(
                    (guid, person.address ?? person.user ?? "somebody"))
            }
        }
        for (caller, links) in links.values {
            let opened = try targets.environment.opened(
                .public, for: caller, zone: ZoneName.defaultZone.text)
            try accept(links[...], in: opened.database)
        }
    }

    /// Accepts shares together; where one cannot be, the others by themselves.
    private func accept(
        _ links: ArraySlice<(guid: String, who: String)>, in database: Database
    ) throws {
        do {
            let invitations = try ShareInvitations(
                links.map { ShareInvitations.Link(value: $0.guid, text: [], root: nil) },
                in: database,
                at: ShareInvitations.ContainerDetails(
                    container: targets.environment.target.container, fallbackURL: nil))
            let pending = Pending<Void>()
            try invitations.accept { pending.end($0) }
            try pending.wait()
        } catch let fault as Fault {
            guard links.count > 1 else {
                return notes += links.map { "\($0.who) is invited only: \(fault.reason)" }
            }
            try accept(links.prefix(links.count / 2), in: database)
            try accept(links.dropFirst(links.count / 2), in: database)
        }
    }
}
