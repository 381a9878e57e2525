import CloudModel
import Configuration
import Foundation
import Testing

@testable import Administration
@testable import Server

/// A server with two containers and two people, between which records go by exports and imports.
final class TransferHome {
    static let ann = "ann@a.example"
    static let bea = "bea@a.example"

    private let temporary: TemporaryFolder
    private let server: FolderServer
    let administrator: Administrator

    /// - Parameter allowed: networks that imports from elsewhere may reach.
    init(allowing allowed: [String] = ["127.0.0.1"]) throws {
        temporary = try TemporaryFolder()
        server = try FolderServer(data: temporary.path("data")) {
            $0.outgoing.allowedNetworks = allowed.compactMap { AddressRange($0) }
        }
        administrator = Administrator(.commandLine(userNumber: 1), on: server.folder)
        for container in ["iCloud.a", "iCloud.b", "iCloud.c"] {
            _ = try administrator.perform(CreateContainer(container))
        }
        for email in [Self.ann, Self.bea] {
            _ = try administrator.perform(CreateAccount(email: email))
        }
    }

    deinit { server.stop() }

    /// Where it listens.
    var address: String { server.server.addresses.first.map { "\($0)" } ?? "" }
    var now: Milliseconds { server.time.now.withLock { $0 } }

    func environment(_ container: String) -> NamedEnvironment {
        NamedEnvironment(container, .development)
    }

    /// The server's data, with a count of what is asked of them.
    func countedData() throws -> CountedData {
        try CountedData(server.folder, at: temporary.path("data"))
    }

    /// The names under which `iCloud.a` knows people.
    func recordNames(of emails: [String]) throws -> [String] {
        let container = try server.folder.containers.find("iCloud.a").id
        return try emails.map {
            try server.folder.users.derivedName(
                of: server.folder.users.find(email: $0), in: container
            ).text
        }
    }

    @discardableResult
    func importing(
        _ files: MemoryFiles, into container: String = "iCloud.a", of email: String? = nil,
        _ change: (inout ImportRecords.Options) -> Void = { _ in }
    ) throws -> ImportRecords.Report {
        var options = ImportRecords.Options()
        change(&options)
        return try administrator.perform(
            ImportRecords(TransferTarget(environment(container), of: email), options, from: files))
    }

    @discardableResult
    func exporting(
        to files: MemoryFiles, from container: String = "iCloud.a", of email: String? = nil,
        _ change: (inout ExportRecords.Options) -> Void = { _ in }
    ) throws -> ExportRecords.Report {
        var options = ExportRecords.Options()
        change(&options)
        return try administrator.perform(
            ExportRecords(TransferTarget(environment(container), of: email), options, to: files))
    }

    /// What a container has, as an export tells it.
    func contents(of container: String) throws -> [String: NSObject] {
        let files = MemoryFiles()
        try exporting(to: files, from: container)
        return try Self.contents(files)
    }

    /// The records of an export: what a copy of each must have, by zone and name.
    static func contents(_ files: MemoryFiles) throws -> [String: NSObject] {
        var found: [String: NSObject] = [:]
        for line in files.lines {
            let read = try JSONSerialization.jsonObject(with: Data(line.utf8))
            guard let line = read as? [String: Any] else { continue }
            guard line["kind"] == nil || line["kind"] as? String == "share" else { continue }
            let record = line["record"] as? [String: Any] ?? line
            let zone = record["zoneID"] as? [String: Any]
            let isPublic = zone?["ownerRecordName"] as? String == "_defaultOwner"
            let key = "\(isPublic) \(zone?["zoneName"] ?? "") \(record["recordName"] ?? "")"
            #expect(found[key] == nil, "twice: \(key)")
            var parts: [String: Any] = [:]
            for name in ["recordType", "fields", "parent", "publicPermission"] {
                parts[name] = record[name]
            }
            parts["root"] = line["rootRecordName"]
            let people = record["participants"] as? [[String: Any]] ?? []
            parts["participants"] = people.map { person in
                let identity = person["userIdentity"] as? [String: Any]
                let info = identity?["lookupInfo"] as? [String: Any]
                return "\(person["type"] ?? "") \(person["permission"] ?? "") "
                    + "\(person["acceptanceStatus"] ?? "") \(info?["emailAddress"] ?? "")"
            }.sorted()
            found[key] = parts as NSDictionary
        }
        return found
    }
}
