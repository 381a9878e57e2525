import Administration
import CProcess
import CloudModel
import Configuration
import Files
import Network

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Looks at the deployment around a data folder for `doctor`.
///
/// Nobody but the operator who asked sees anything of it.
struct Examination {
    let folder: DataFolder

    var configuration: ServerConfiguration { folder.configuration }

    /// Whether requests may come from other machines, directly or through a proxy.
    var isPublic: Bool {
        !configuration.publicBaseURL.isEmpty || !exposedAddresses.isEmpty
            || configuration.listen.contains { $0.hasPrefix("unix:") }
    }

    /// The addresses that other machines can reach.
    var exposedAddresses: [String] {
        configuration.listen.filter { text in
            guard case .tcp(let host, _)? = ListenAddress(text) else { return false }
            return host != "localhost" && host != "::1" && !host.hasPrefix("127.")
        }
    }

    func findings() throws -> [Finding] {
        try machine() + network() + sending() + backups() + data()
    }

    /// Of stores that are missing.
    private static let namesMax = 20

    /// What was made for a developer, and stores that are not in their place.
    private func data() throws -> [Finding] {
        var found: [Finding] = []
        var (names, missingCount) = ([] as [String], 0)
        try folder.stores.forEachKnown { key, isMissing in
            guard isMissing else { return }
            missingCount += 1
            guard names.count < Self.namesMax else { return }
            names.append("\(key.container.name) \(key.environment.rawValue)")
        }
        if missingCount > 0 {
            let others = missingCount - names.count
            let all = names.joined(separator: ", ") + (others > 0 ? " and \(others) others" : "")
            found.append(
                .problem(
                    "data", "the data of \(all) is not in its place",
                    remedy: "put it back or restore a backup; `lenticular check` says more"))
        }
        let development = ContainerID(DevelopmentSetup.container)
        let isDevelopment = try development.map { try folder.catalog.container($0) != nil } ?? false
        if isDevelopment, isPublic {
            found.append(
                .problem(
                    "development",
                    "others can reach a server with the accounts and keys that serve --dev printed",
                    remedy:
                        "lenticular container delete \(DevelopmentSetup.container), and user delete "
                        + DevelopmentSetup.emails.joined(separator: " and ")))
        }
        return found
    }
}

extension DataFolder {
    package func examine() throws -> [Finding] { try Examination(folder: self).findings() }
}

extension Examination {
    private static let filesMin = 1_000

    /// The folder, its disk, and how many files may be open.
    func machine() throws -> [Finding] {
        [mode(), try disk(), fileSystem(), openFiles()].compactMap { $0 }
    }

    private func mode() -> Finding? {
        var status = stat()
        guard stat(folder.path, &status) == 0 else { return nil }
        guard status.st_mode & 0o077 == 0 else {
            return .problem(
                "data folder", "other users of this machine can look into \(folder.path)",
                remedy: "chmod 700 \(FolderAccess.quoted(folder.path))")
        }
        return .good("data folder", "\(folder.path) is its owner's alone")
    }

    private func disk() throws -> Finding {
        let room = try DiskRoom(of: folder.path, configuration)
        let text =
            "\(Self.gigabytes(room.freeBytes)) GB of \(Self.gigabytes(room.diskBytes)) GB are free"
        let remedy = "make room, or move the data folder to a larger disk"
        if room.level == .used {
            return .problem("disk", text + ": uploads are refused", remedy: remedy)
        }
        guard try FileSystem.hasRoom(forFiles: Self.filesMin, at: folder.path) else {
            return .problem("disk", "the file system takes hardly any more files", remedy: remedy)
        }
        if room.level == .low { return .advice("disk", text, remedy: remedy) }
        return .good("disk", text)
    }

    private static func gigabytes(_ bytes: Int) -> String {
        let tenths = bytes / 100_000_000
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// What is known to lose writes that SQLite was told are on the disk, or its locks.
    private func fileSystem() -> Finding? {
        let kinds: [UInt: String] = [
            0x6969: "NFS", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x6573_5546: "FUSE",
            0x0102_1997: "9P",
        ]
        let kind = lenticular_file_system_kind(folder.path)
        if let name = kinds[kind] {
            return .problem(
                "file system", "\(folder.path) is on \(name), which may lose locks and writes",
                remedy: "move it to a disk of this machine")
        }
        if kind == 0x0102_1994 {
            return .problem(
                "file system", "\(folder.path) is in memory: a restart loses everything",
                remedy: "move it to a disk")
        }
        return nil
    }

    private func openFiles() -> Finding {
        let (limit, wanted) = (
            DescriptorRoom.now(beside: 0).limit, configuration.http.connectionsMax
        )
        guard limit < wanted else { return .good("open files", "\(limit) are allowed") }
        return .advice(
            "open files",
            "\(limit) are allowed, fewer than http.connectionsMax, which is \(wanted)",
            remedy: "raise LimitNOFILE of the unit, or --ulimit nofile of the container")
    }
}
