import AssetStorage
import CloudModel
import Cryptography
import JSON
import Storage

/// Receives an export, file by file.
package protocol PersonalArchive: AnyObject {
    /// Begins a file; the file before is complete.
    ///
    /// - Parameter name: parts between slashes, each of letters, digits, dots, hyphens, `_` and `%`.
    func begin(_ name: String) throws
    func append(_ bytes: [UInt8]) throws
    func end() throws
}

/// Exports all that a container environment keeps of a person.
///
/// That is their private zones, their public records, the shares that they take part in, and the files of all
/// these. Blocks, page by page. A record that is saved meanwhile may come twice, the newer version last.
package struct ExportPerson {
    /// What was exported.
    package struct Report: Sendable, Equatable {
        package var records = 0
        package var assets = 0
        /// Files that are missing or damaged, and where records are that are not what was written.
        package var problems: [String] = []

        package init() {}

        fileprivate mutating func note(_ written: Written, _ whose: String) {
            records += written.records
            guard written.damaged > 0 else { return }
            problems.append("records \(whose) that are not what was written: \(written.damaged)")
        }

        package static func += (sum: inout Report, other: Report) {
            sum.records += other.records
            sum.assets += other.assets
            sum.problems += other.problems
        }
    }

    /// What came of a zone.
    fileprivate struct Written {
        var records = 0
        /// Records that are not what was written, and are left out.
        var damaged = 0
    }

    private static let stepRowsMax = 200
    /// Smaller pieces are joined until they have this size.
    private static let pieceBytes = 65_536

    private let user: UserRecordName
    private let storage: any Store
    private let assets: any AssetBlobStore
    private let goesOn: @Sendable () -> Bool

    /// - Parameter goesOn: called before each page; false ends the export early.
    package init(
        _ user: UserRecordName, from storage: any Store, assets: any AssetBlobStore,
        while goesOn: @escaping @Sendable () -> Bool = { true }
    ) {
        self.user = user
        self.storage = storage
        self.assets = assets
        self.goesOn = goesOn
    }

    /// - Parameter folder: the folder of the files, with a slash at its end.
    /// - Throws: what the archive, the store and the files' place report; `ErasePerson.Interrupted`.
    package func run(to archive: any PersonalArchive, below folder: String) throws -> Report {
        var report = Report()
        var files: Set<AssetDigest> = []
        for zone in try ownZones() {
            let written = try write(
                zone, "\(folder)private/\(Self.fileName(zone.name.text)).json", archive, &files
            ) { _ in true }
            report.note(written, "of the zone '\(zone.name.text)'")
        }
        let everybodys = try storage.read {
            try $0.zone(named: .defaultZone, ofOwnerNamed: .publicOwner)
        }
        if let everybodys {
            let written = try write(
                everybodys, "\(folder)public.json", archive, &files
            ) { try RecordBody.creator(of: $0) == user.text }
            // Nobody can tell whose they were.
            report.note(written, "that are public, of this user or of others,")
        }
        try writeShares("\(folder)shared.json", archive)
        for digest in files.sorted(by: { $0.hexadecimal < $1.hexadecimal }) {
            try write(digest, "\(folder)assets/\(digest.hexadecimal)", archive, &report)
        }
        return report
    }

    private func ownZones() throws -> [StoredZone] {
        try storage.read { snapshot in
            guard let owner = try snapshot.owner(named: user) else { return [] }
            return try snapshot.zones(of: owner.number)
        }
    }

    /// The name of a zone as a file's name.
    static func fileName(_ text: String) -> String {
        // A name of dots would be a folder.
        PercentEncoding.encode(text).replacing(".", with: "%2E")
    }

    // MARK: - Records

    private func write(
        _ zone: StoredZone, _ name: String, _ archive: any PersonalArchive,
        _ files: inout Set<AssetDigest>, _ isWanted: (UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Written {
        try archive.begin(name)
        var piece = Array("{\"records\":[".utf8)
        var written = Written()
        var (last, seen) = (Position(0), Self.stepRowsMax)
        while seen == Self.stepRowsMax {
            guard goesOn() else { throw ErasePerson.Interrupted() }
            seen = 0
            do {
                try storage.read { snapshot in
                    try snapshot.versions(
                        in: zone.number, after: last, through: .max, newestFirst: false,
                        expected: Self.stepRowsMax
                    ) { version in
                        guard seen < Self.stepRowsMax else { return false }
                        seen += 1
                        last = version.position
                        guard !version.flags.contains(.tombstone), try isWanted(version.body)
                        else { return true }
                        if written.records > 0 { piece.append(UInt8(ascii: ",")) }
                        piece += version.body
                        written.records += 1
                        try files.formUnion(ErasePerson.files(of: version))
                        return true
                    }
                }
            } catch let damaged as DamagedVersion {
                written.damaged += 1
                (last, seen) = (damaged.position, Self.stepRowsMax)
            }
            if piece.count >= Self.pieceBytes {
                try archive.append(piece)
                piece = []
            }
        }
        let damaged = written.damaged > 0 ? ",\"damaged\":\(written.damaged)" : ""
        try archive.append(piece + Array("]\(damaged)}\n".utf8))
        try archive.end()
        return written
    }

    /// Writes the shares that the person takes part in or is invited to: whose zone each is, and how they
    /// take part.
    private func writeShares(_ name: String, _ archive: any PersonalArchive) throws {
        var writer = JSONWriter()
        writer.raw("{\"shares\":[")
        var isFirst = true
        try storage.read { snapshot in
            let own = try snapshot.participations(of: user)
            let shares = try snapshot.shares(.numbers(own.map(\.0)))
            let locations = try snapshot.recordLocations(shares.compactMap { $0?.record })
            let zones = try snapshot.ownedZones(shares.compactMap { $0?.zone })
            for ((_, participant), share) in zip(own, shares) {
                guard let share, let location = locations[share.record],
                    let (zone, owner) = zones[share.zone]
                else { continue }
                writer.separate(&isFirst)
                writer.raw("{\"recordName\":")
                writer.string(location.name.text)
                writer.raw(",\"zoneID\":")
                writer.raw(ZoneJSON.identifier(zone.name, owner: owner))
                writer.member("permission", Self.text(participant.permission))
                writer.member("acceptanceStatus", Self.text(participant.status))
                writer.raw("}")
            }
        }
        writer.raw("]}\n")
        try archive.begin(name)
        try archive.append(writer.bytes)
        try archive.end()
    }

    private static func text(_ permission: SharePermission) -> String {
        switch permission {
        case .none: "NONE"
        case .readOnly: "READ_ONLY"
        case .readWrite: "READ_WRITE"
        }
    }

    private static func text(_ status: AcceptanceStatus) -> String {
        switch status {
        case .invited: "INVITED"
        case .accepted: "ACCEPTED"
        case .removed: "REMOVED"
        }
    }

    // MARK: - Files

    private func write(
        _ digest: AssetDigest, _ name: String, _ archive: any PersonalArchive,
        _ report: inout Report
    ) throws {
        guard goesOn() else { throw ErasePerson.Interrupted() }
        guard let reader = try assets.open(digest) else {
            report.problems.append("the file \(digest.hexadecimal) is missing")
            return
        }
        try archive.begin(name)
        let read = try reader.readAll { try archive.append([UInt8]($0)) }
        try archive.end()
        report.assets += 1
        if read?.digest != digest {
            report.problems.append("the file \(digest.hexadecimal) is damaged")
        }
    }
}
