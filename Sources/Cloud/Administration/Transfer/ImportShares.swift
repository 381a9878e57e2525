import CloudDatabase
import CloudModel
import JSON
import RecordDecoding
import Storage

/// Makes shares of an import again, once the records that they are for are there.
///
/// A share gets another short identifier. Who had accepted it and has an account here takes part at once; others are invited.
final class ImportShares {
    private let environment: NamedEnvironment
    private let data: any ServerData
    private(set) var notes: [String] = []

    init(_ environment: NamedEnvironment, _ data: any ServerData) {
        self.environment = environment
        self.data = data
    }

    /// - Parameter root: the record that it is for; nil for a whole zone.
    /// - Throws: `Fault` why it was not made.
    func save(
        _ record: ImportedRecord, root: String?, in target: ImportTarget, _ mode: SaveRecords.Mode
    ) throws {
        let opened = target.opened
        let former = try record.name.flatMap { try tag(of: $0, opened) }
        let exists = former != nil
        if exists, mode == .create { throw Fault(.exists, "the share exists already") }
        var writer = JSONWriter(reserving: 2_048)
        writer.raw("{\"recordType\":\"cloudkit.share\"")
        if let name = record.name { writer.member("recordName", name) }
        if let former { writer.member("recordChangeTag", former) }
        if let root, !exists {
            guard let tag = try tag(of: root, opened) else {
                throw Fault(
                    .notFound, "the record '\(Fault.shown(root))' that it shares is not there")
            }
            writer.raw(",\"forRecord\":{\"recordName\":")
            writer.string(root)
            writer.member("recordChangeTag", tag)
            writer.raw("}")
        }
        append(record.json, "fields", to: &writer)
        append(record.json, "publicPermission", to: &writer)
        append(record.json, "allowsAccessRequests", to: &writer)
        let accepted = appendParticipants(record.json, to: &writer)
        writer.raw("}")
        let operation = try OperationDecoder(
            zones: ZoneReader(caller: opened.database.caller, scope: .private),
            rendering: .whole, limits: opened.database.limits,
            makeName: { [data] in RecordNames.random(data.random) }
        ).decode(
            RequestObject(JSONDocument(parsing: writer.bytes).root, key: "record"),
            as: exists ? .replace : .create)
        for outcome in try target.writer.begin([operation], isAtomic: true)() {
            guard case .saved(let body, _) = outcome else {
                if case .failed(_, let fault) = outcome { throw fault }
                continue
            }
            try accept(body, accepted)
        }
    }

    private func tag(of name: String, _ opened: OperatedDatabase.Opened) throws -> String? {
        try opened.database.storage.read { snapshot in
            var writer = JSONWriter()
            do {
                try LookupRecords(in: opened.zone, of: opened.database, snapshot: snapshot).append(
                    LookupRecords.Item(name: name, rendering: .whole), to: &writer)
            } catch let fault as Fault where fault.code == .notFound {
                return nil
            }
            return try JSONDocument(parsing: writer.bytes).root["recordChangeTag"]?.string
        }
    }

    private func append(_ record: JSONValue, _ key: StaticString, to writer: inout JSONWriter) {
        guard let value = record[key] else { return }
        writer.raw(",\"")
        writer.raw(key)
        writer.raw("\":")
        value.withRawBytes { writer.raw($0) }
    }

    /// Appends all participants but the owner, by their names or addresses.
    ///
    /// - Returns: the addresses and names of those who had accepted.
    private func appendParticipants(
        _ record: JSONValue, to writer: inout JSONWriter
    ) -> [(address: String?, user: String?)] {
        var accepted: [(address: String?, user: String?)] = []
        writer.raw(",\"participants\":[")
        var isFirst = true
        for participant in record["participants"]?.elements ?? record.elements {
            if participant["type"]?.stringEquals("OWNER") == true { continue }
            let identity = participant["userIdentity"]
            let info = identity?["lookupInfo"]
            let address = info?["emailAddress"]?.string ?? info?["phoneNumber"]?.string
            let user = identity?["userRecordName"]?.string
            guard address != nil || user != nil else { continue }
            writer.separate(&isFirst)
            writer.raw("{\"userIdentity\":{\"lookupInfo\":")
            if let info, address != nil {
                info.withRawBytes { writer.raw($0) }
            } else {
                writer.raw("{\"userRecordName\":")
                writer.string(user ?? "")
                writer.raw("}")
            }
            writer.raw("}")
            append(participant, "type", to: &writer)
            append(participant, "permission", to: &writer)
            writer.raw("}")
            if participant["acceptanceStatus"]?.stringEquals("ACCEPTED") == true {
                accepted.append((address, user))
            }
        }
        writer.raw("]")
        return accepted
    }

    // MARK: - Who had accepted

    private func accept(
        _ body: [UInt8], _ accepted: [(address: String?, user: String?)]
    ) throws {
        guard let guid = try JSONDocument(parsing: body).root["shortGUID"]?.string else { return }
        for (address, user) in accepted {
            do {
                guard let account = try account(address, user) else { continue }
                let opened = try OperatedDatabase(environment, .public, of: account)
                    .opened(in: data, saves: true)
                let invitations = try ShareInvitations(
                    [ShareInvitations.Link(value: guid, text: [], root: nil)],
                    in: opened.database,
                    at: ShareInvitations.ContainerDetails(
                        container: environment.found(in: data).container, fallbackURL: nil))
                let pending = Pending<Void>()
                try invitations.accept { pending.end($0) }
                try pending.wait()
            } catch let fault as Fault {
                notes.append("\(address ?? user ?? "somebody") is invited only: \(fault.reason)")
            }
        }
    }

    /// The account of somebody by an address, or by the name in this container; nil for none here.
    private func account(_ address: String?, _ user: String?) throws -> String? {
        let catalog = data.accountUseCases.catalog
        if let user = user.flatMap({ UserRecordName($0) }),
            let id = try catalog.account(named: user, in: environment.found(in: data).container)
        {
            return id.text
        }
        guard let address, address.contains("@") else { return nil }
        // NB: somebody without an account here is invited by the address.
        return (try? data.users.find(email: address))?.id.text
    }
}
