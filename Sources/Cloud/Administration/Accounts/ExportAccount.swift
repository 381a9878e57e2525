import Accounts
import CloudDatabase
import CloudModel
import JSON
import RequestRecords
import Storage
import ZIP

/// Hands on all that the server keeps of somebody, as an archive of JSON and files.
///
/// Refusals: `AccountsRefusal.emailIllegal`, `userUnknown`.
package struct ExportAccount: AdministrativeAction {
    package var name: String { "user export" }

    package var right: ActionRight { .server.proven }

    package var looksAtPrivateData: Bool { true }

    private let email: String
    private let write: ([UInt8]) throws -> Void

    /// - Parameter write: gets the archive's bytes, one after the other.
    package init(_ email: String, to write: @escaping ([UInt8]) throws -> Void) {
        self.email = email
        self.write = write
    }

    package var changes: Bool { false }

    package var isNoted: Bool { true }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(account: try data.users.find(email: email).id)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> ExportPerson.Report {
        try PersonalExport(of: try data.users.find(email: email), in: data).run(to: write)
    }
}

/// All that the server keeps of an account.
package struct PersonalExport {
    private let account: AccountRecord
    private let data: any ServerData
    private let goesOn: @Sendable () -> Bool

    package init(
        of account: AccountRecord, in data: any ServerData,
        while goesOn: @escaping @Sendable () -> Bool = { true }
    ) {
        self.account = account
        self.data = data
        self.goesOn = goesOn
    }

    /// - Parameter write: gets the archive's bytes, one after the other.
    /// - Throws: what `write`, the catalog, the stores and the files' places report.
    package func run(to write: @escaping ([UInt8]) throws -> Void) throws -> ExportPerson.Report {
        let archive = ZIPFile(at: data.clock.now(), write)
        try archive.begin("account.json")
        try archive.append(try accountJSON())
        try archive.end()
        var report = ExportPerson.Report()
        try data.forEachEnvironment { target in
            guard let name = try name(in: target.container) else { return }
            report += try ExportPerson(
                name, from: data.store(of: target.container, in: target.environment),
                assets: data.assetStore(of: target).storage, while: goesOn
            ).run(
                to: archive, below: "\(target.container.name)/\(target.environment.rawValue)/")
        }
        try appendRequests(to: archive)
        try archive.finish()
        return report
    }

    /// The lines that are kept of the person's requests, a file of JSON lines.
    private func appendRequests(to archive: ZIPFile) throws {
        guard let lines = try data.requests() else { return }
        let users = try data.recordNames(of: account)
        let filter = RequestFilter(person: try lines.person(users))
        try archive.begin("requests.jsonl")
        try lines.newest(filter) { _, entry in
            try archive.append(RequestJSON.line(of: entry))
            return goesOn()
        }
        try archive.end()
    }

    /// The name by which a container knows the account; nil where it never came.
    private func name(in container: ContainerID) throws -> UserRecordName? {
        let name = try data.users.derivedName(of: account, in: container)
        return try data.accountUseCases.catalog.account(named: name, in: container) == account.id
            ? name : nil
    }

    private func accountJSON() throws -> [UInt8] {
        let (catalog, now) = (data.accountUseCases.catalog, data.clock.now())
        var writer = JSONWriter(reserving: 1_024)
        writer.raw("{\"accountID\":")
        writer.string(account.id.text)
        for (key, value) in [
            (",\"givenName\":", account.givenName), (",\"familyName\":", account.familyName),
        ] as [(StaticString, String?)] {
            guard let value else { continue }
            writer.raw(key)
            writer.string(value)
        }
        writer.raw(",\"made\":")
        writer.integer(account.createdAt)
        writer.raw(",\"discoverable\":")
        writer.raw(account.isDiscoverable ? "true" : "false")
        writer.raw(",\"secondFactor\":")
        writer.raw(try catalog.secondFactor(of: account.id) == nil ? "false" : "true")
        writer.raw(",\"addresses\":[")
        for (index, held) in account.addresses.enumerated() {
            if index > 0 { writer.raw(",") }
            writer.raw("{\"address\":")
            writer.string(held.address.text)
            writer.raw(",\"verified\":")
            writer.raw(held.verifiedAt == nil ? "false}" : "true}")
        }
        writer.raw("],\"browsers\":[")
        let sessions = try data.accountUseCases.sessions.list(account.id, now: now)
        for (index, session) in sessions.enumerated() {
            if index > 0 { writer.raw(",") }
            writer.raw("{\"device\":")
            writer.string(session.device)
            writer.raw(",\"made\":")
            writer.integer(session.madeAt)
            writer.raw(",\"used\":")
            writer.integer(session.usedAt)
            writer.raw("}")
        }
        writer.raw("],\"apps\":[")
        try appendApps(to: &writer)
        writer.raw("]}\n")
        return writer.bytes
    }

    /// The apps that act for the person, without brackets around them.
    private func appendApps(to writer: inout JSONWriter) throws {
        let catalog = data.accountUseCases.catalog
        var isFirst = true
        try ListPage.forEach {
            try catalog.webSessions(.account(account.id), livingAt: .min, $0)
        } _: { session in
            if !isFirst { writer.raw(",") }
            isFirst = false
            writer.raw("{\"container\":")
            writer.string(session.container.name)
            writer.raw(",\"environment\":")
            writer.string(session.environment.rawValue)
            for (key, value) in [
                (",\"origin\":", session.source.origin), (",\"device\":", session.source.device),
            ] as [(StaticString, String)] where !value.isEmpty {
                writer.raw(key)
                writer.string(value)
            }
            writer.raw(",\"begun\":")
            writer.integer(session.begunAt)
            writer.raw(",\"made\":")
            writer.integer(session.madeAt.upperBound)
            writer.raw("}")
        }
    }
}

/// An archive whose bytes are handed on as they come.
private final class ZIPFile: PersonalArchive {
    private var archive: ZIPArchive
    private let write: ([UInt8]) throws -> Void

    init(at now: Milliseconds, _ write: @escaping ([UInt8]) throws -> Void) {
        archive = ZIPArchive(seconds: now / 1_000)
        self.write = write
    }

    func begin(_ name: String) throws { try write(archive.begin(name)) }

    func append(_ bytes: [UInt8]) throws { try write(archive.append(bytes)) }

    func end() throws { try write(archive.end()) }

    func finish() throws { try write(archive.finish()) }
}
