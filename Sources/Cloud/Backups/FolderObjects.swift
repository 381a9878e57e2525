import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Keeps the objects of backups as files below a folder, each for its owner alone.
package struct FolderObjects: BackupObjects {
    /// A file on its way has a name that no object has.
    private static let unfinished = ".unfinished"
    private static let bytesMax = 1 << 30

    private let path: String

    package init(path: String) { self.path = path }

    package func put(_ name: String, _ bytes: [UInt8]) throws {
        let file = "\(path)/\(name)"
        let folder = FileSystem.parent(of: file) ?? path
        try FileSystem.makeFolder(folder)
        let fresh = file + Self.unfinished
        FileSystem.removeFile(fresh)
        do {
            try FileSystem.write(bytes, toNew: fresh)
            try FileSystem.move(fresh, over: file)
        } catch {
            FileSystem.removeFile(fresh)
            throw error
        }
        try FileSystem.synchronize(folder)
    }

    package func read(_ name: String, _ stretch: Range<Int>?) throws -> [UInt8]? {
        let file = "\(path)/\(name)"
        guard try FileSystem.kind(of: file) == .file else { return nil }
        guard let stretch else { return try FileSystem.contents(of: file, bytesMax: Self.bytesMax) }
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw BackupFailure("cannot open \(file): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: stretch.count)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(
                    descriptor, $0.baseAddress.map { $0 + done }, $0.count - done,
                    off_t(stretch.lowerBound + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw BackupFailure.damaged("\(file) is too short") }
            done += count
        }
        return bytes
    }

    package func list(_ prefix: String) throws -> [BackupObject] {
        let folder = prefix.split(separator: "/").dropLast(prefix.hasSuffix("/") ? 0 : 1)
            .joined(separator: "/")
        let below = folder.isEmpty ? path : "\(path)/\(folder)"
        guard try FileSystem.kind(of: below) == .folder else { return [] }
        return try FileSystem.names(in: below).sorted().compactMap { name in
            let object = folder.isEmpty ? name : "\(folder)/\(name)"
            guard object.hasPrefix(prefix), !name.hasSuffix(Self.unfinished),
                try FileSystem.kind(of: "\(path)/\(object)") == .file
            else { return nil }
            return BackupObject(
                name: object, byteCount: Int(FileSystem.size(of: "\(path)/\(object)")))
        }
    }

    package func removeUnfinished() throws {
        guard try FileSystem.kind(of: path) == .folder else { return }
        for folder in try [path] + FileSystem.names(in: path).map({ "\(path)/\($0)" })
        where try FileSystem.kind(of: folder) == .folder {
            for name in try FileSystem.names(in: folder) where name.hasSuffix(Self.unfinished) {
                FileSystem.removeFile("\(folder)/\(name)")
            }
        }
    }

    package func delete(_ name: String) throws {
        let file = "\(path)/\(name)"
        guard unlink(file) == 0 || errno == ENOENT else {
            throw BackupFailure("cannot remove \(file): \(String(cString: strerror(errno)))")
        }
    }
}
