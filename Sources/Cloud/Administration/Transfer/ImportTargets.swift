import CloudDatabase
import CloudModel
import Cryptography
import Dispatch
import Storage
import Synchronization

/// Finds the database that each record of an import belongs to, and makes its zone when that is not there.
///
/// With a user, all go to that user's private database. Else a record of the public database goes to the public one, and a
/// private one to the account whose address the file names, or that the container knows by the same name.
final class ImportTargets {
    private struct Key: Hashable {
        let owner: String?
        let zone: ZoneName
    }

    private let environment: NamedEnvironment
    private let email: String?
    private let data: any ServerData
    /// The addresses of owners, as the file tells them.
    private var emails: [String: String] = [:]
    private var found: [Key: Result<ImportTarget, RecordsRefusal>] = [:]
    private(set) var notes: [String] = []

    init(_ environment: NamedEnvironment, email: String?, in data: any ServerData) {
        self.environment = environment
        self.email = email
        self.data = data
    }

    /// Hears what a file says of an owner.
    func note(owner: String, email: String?) {
        guard let email, emails[owner] != email else { return }
        emails[owner] = email
        found = found.filter { $0.key.owner != owner }
    }

    /// - Throws: `RecordsRefusal` when nobody here is the owner; what the catalog and the store report.
    func target(of record: ImportedRecord) throws -> ImportTarget {
        let key = Key(owner: record.owner, zone: record.zone)
        if let known = found[key] { return try known.get() }
        let made: Result<ImportTarget, RecordsRefusal>
        do {
            made = .success(try open(record))
        } catch let refusal as RecordsRefusal {
            made = .failure(refusal)
        } catch let fault as Fault {
            made = .failure(RecordsRefusal(fault))
        }
        found[key] = made
        return try made.get()
    }

    private func open(_ record: ImportedRecord) throws -> ImportTarget {
        let account = try account(of: record)
        let database = OperatedDatabase(
            environment, account == nil ? .public : .private, of: account,
            zone: record.zone.text)
        let opened = try database.opened(in: data, saves: true)
        if account != nil, !record.zone.isDefault { try make(opened) }
        return ImportTarget(opened, data)
    }

    /// The address of the account that a record goes to; nil for the public database.
    private func account(of record: ImportedRecord) throws -> String? {
        if let email { return email }
        guard let owner = record.owner, owner != UserRecordName.publicOwner.text else { return nil }
        if let email = emails[owner] { return email }
        let container = try environment.found(in: data).container
        guard let name = UserRecordName(owner),
            let id = try data.accountUseCases.catalog.account(named: name, in: container)
        else {
            throw RecordsRefusal(
                "nobody here is \(Fault.shown(owner)), who owns the record; name somebody with --user"
            )
        }
        return id.text
    }

    private func make(_ opened: OperatedDatabase.Opened) throws {
        let zones = try ModifyZones(
            [ModifyZones.Operation(kind: .create, zone: opened.zone)], in: opened.database,
            key: HMACSHA256(key: opened.tokenKey))
        let pending = Pending<[ModifyZones.Outcome]>()
        zones.run { pending.end($0) }
        for outcome in try pending.wait() { _ = try outcome.get() }
    }
}

/// One zone of a database into which records go.
final class ImportTarget {
    let opened: OperatedDatabase.Opened
    let writer: RecordBatchWriter

    init(_ opened: OperatedDatabase.Opened, _ data: any ServerData) {
        self.opened = opened
        writer = RecordBatchWriter(opened, data)
    }
}

/// What somebody waits for who has asked another thread.
package final class Pending<Value: Sendable>: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let result = Mutex<Result<Value, any Error>>(.failure(StorageFailure.indeterminate))

    package init() {}

    package func end(_ result: Result<Value, any Error>) {
        self.result.withLock { $0 = result }
        done.signal()
    }

    package func wait() throws -> Value {
        done.wait()
        return try result.withLock { $0 }.get()
    }
}
