import Foundation
import LenticularCloudKit

/// A person of the book.
struct Contact {
    let record: CKRecord

    var name: String { record["name"] ?? "" }
    var phone: String { record["phone"] ?? "" }
    /// Encrypted on this device: nobody else reads it, the server neither.
    var note: String? { record.encryptedValues["note"] }

    var line: String {
        let note = note.map { "  (\($0))" } ?? ""
        return "\(name)  \(phone)\(note)"
    }
}

/// Contacts in a zone of one's own, and those that others share.
struct AddressBook {
    enum Failure: Error, CustomStringConvertible {
        case unknown(String)

        var description: String {
            switch self {
            case .unknown(let name): "there is no contact named \(name)"
            }
        }
    }

    private static let zone = CKRecordZone(zoneName: "Contacts")
    private let container: CKContainer

    private var database: CKDatabase { container.privateCloudDatabase }

    init(_ container: CKContainer) { self.container = container }

    /// Makes the zone; one that is there already counts as made.
    func open() async throws { try await database.save(Self.zone) }

    func add(_ name: String, phone: String) async throws {
        let record = CKRecord(
            recordType: "Contact", recordID: CKRecord.ID(zoneID: Self.zone.zoneID))
        record["name"] = name
        record["phone"] = phone
        try await database.save(record)
    }

    /// Sets a note that is encrypted before it leaves the device.
    func note(_ text: String, on name: String) async throws {
        let contact = try await contact(name)
        contact.record.encryptedValues["note"] = text
        try await database.save(contact.record)
    }

    /// Invites somebody to one contact.
    ///
    /// - Returns: the link for them.
    func share(_ name: String, with email: String) async throws -> URL? {
        let contact = try await contact(name)
        let share: CKShare
        if let known = contact.record.share {
            guard let found = try await database.record(for: known.recordID) as? CKShare else {
                return nil
            }
            share = found
        } else {
            share = CKShare(rootRecord: contact.record)
            share[CKShare.SystemFieldKey.title] = name
        }
        let guest = try await container.shareParticipant(forEmailAddress: email)
        guest.permission = .readWrite
        share.addParticipant(guest)
        let done = try await database.modifyRecords(saving: [contact.record, share])
        for (_, result) in done.saveResults { _ = try result.get() }
        return share.url
    }

    /// Takes part in what a link leads to.
    func accept(_ link: URL) async throws {
        try await container.accept(try await container.shareMetadata(for: link))
    }

    func contacts() async throws -> [Contact] {
        try await Self.contacts(of: Self.zone.zoneID, in: database)
    }

    /// What others share, in the zones of those whose it is.
    func sharedContacts() async throws -> [Contact] {
        let database = container.sharedCloudDatabase
        var all: [Contact] = []
        for zone in try await database.allRecordZones() {
            all += try await Self.contacts(of: zone.zoneID, in: database)
        }
        return all
    }

    private func contact(_ name: String) async throws -> Contact {
        guard let found = try await contacts().first(where: { $0.name == name }) else {
            throw Failure.unknown(name)
        }
        return found
    }

    private static func contacts(
        of zone: CKRecordZone.ID, in database: CKDatabase
    ) async throws -> [Contact] {
        var found: [Contact] = []
        var token: CKServerChangeToken?
        while true {
            let page = try await database.recordZoneChanges(inZoneWith: zone, since: token)
            for result in page.modificationResultsByID.values {
                let record = try result.get().record
                if record.recordType == "Contact" { found.append(Contact(record: record)) }
            }
            guard page.moreComing else { return found.sorted { $0.name < $1.name } }
            token = page.changeToken
        }
    }
}
