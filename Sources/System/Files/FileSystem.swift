import Platform

/// The few calls on files and folders that are needed beside databases and assets.
package enum FileSystem {
    package enum Kind: Sendable { case file, folder, other }

    /// What stands at a path; nil for nothing.
    ///
    /// - Throws: `FileSystemFailure` when the system does not say.
    package static func kind(of path: String) throws(FileSystemFailure) -> Kind? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw failure("look at", path)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    /// Whether two paths lead to the same file or folder; not where one of them leads to nothing.
    package static func isSame(_ path: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard stat(path, &first) == 0, stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Reads a whole file.
    ///
    /// - Throws: `FileSystemFailure` when it cannot be read or is longer than `bytesMax`.
    package static func contents(
        of path: String, bytesMax: Int = 16_777_216
    ) throws(FileSystemFailure)
        -> [UInt8]
    {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        guard let bytes = contents(of: descriptor, bytesMax: bytesMax) else {
            throw failure("read", path)
        }
        guard bytes.count <= bytesMax else {
            throw FileSystemFailure("\(path) is longer than \(bytesMax) bytes")
        }
        return bytes
    }

    /// Reads to the end, or one byte beyond `bytesMax`; nil with `errno` when that fails.
    package static func contents(of descriptor: Int32, bytesMax: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= bytesMax {
            let count = read(descriptor, &piece, min(piece.count, bytesMax + 1 - bytes.count))
            if count == 0 { break }
            if count > 0 {
                bytes.append(contentsOf: piece[..<count])
            } else if errno != EINTR {
                return nil
            }
        }
        return bytes
    }

    /// Reads up to so many bytes of a file from an offset on; fewer only at its end.
    package static func contents(
        of path: String, at offset: Int64, bytesMax: Int
    ) throws(FileSystemFailure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0,
            let bytes = contents(of: descriptor, bytesMax: bytesMax - 1)
        else { throw failure("read", path) }
        return bytes
    }

    /// What a descriptor has to read, so many bytes at most; empty at its end, nil with `errno` when that fails.
    package static func piece(of descriptor: Int32, countMax: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: countMax)
        while true {
            let count = read(descriptor, &bytes, countMax)
            if count >= 0 { return Array(bytes[..<count]) }
            if errno != EINTR { return nil }
        }
    }

    /// Writes at a place of a file, which is made when it is not there, for its owner alone.
    ///
    /// Where the bytes end a stretch of the file (`endsStretch`), it returns once the disk has them.
    package static func write(
        _ bytes: [UInt8], at offset: Int64, of path: String
    ) throws(FileSystemFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else { throw failure("write", path) }
        try writePiece(bytes, at: offset, to: descriptor, of: path)
    }

    /// What is written of a long file before the disk gets it.
    private static let stretchBytes: Int64 = 4_194_304

    /// Whether the disk is to have a file now that is written piece by piece.
    ///
    /// A long file that comes to the disk as a whole, at its end, holds up everything else that waits for the disk.
    package static func endsStretch(at offset: Int64, count: Int) -> Bool {
        offset / stretchBytes != (offset + Int64(count)) / stretchBytes
    }

    /// Writes a piece of a file that may be long, at the descriptor's offset.
    ///
    /// - Parameter offset: where in the file that is.
    package static func writePiece(
        _ bytes: [UInt8], at offset: Int64, to descriptor: Int32, of path: String
    ) throws(FileSystemFailure) {
        try write(bytes, to: descriptor, of: path)
        guard endsStretch(at: offset, count: bytes.count) else { return }
        if fsync(descriptor) != 0 { throw failure("write", path) }
    }

    /// Cuts a file to a length, and returns once the disk has it.
    package static func cut(_ path: String, to size: Int64) throws(FileSystemFailure) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        guard ftruncate(descriptor, off_t(size)) == 0, fsync(descriptor) == 0 else {
            throw failure("write", path)
        }
    }

    /// Writes a file that is not there yet, for its owner alone.
    package static func write(_ bytes: [UInt8], toNew path: String) throws(FileSystemFailure) {
        let descriptor = try openNew(path)
        defer { close(descriptor) }
        try write(bytes, to: descriptor, of: path)
        if fsync(descriptor) != 0 { throw failure("write", path) }
    }

    /// Copies a file to a place where none is, for its owner alone, as far as it was written.
    ///
    /// - Returns: false when there is no such file.
    package static func copy(_ path: String, toNew copy: String) throws(FileSystemFailure) -> Bool {
        guard try kind(of: path) == .file else { return false }
        let source = open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw failure("open", path) }
        defer { close(source) }
        let target = try openNew(copy)
        defer { close(target) }
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(source, &piece, piece.count)
            if count == 0 { break }
            if count > 0 {
                try write(Array(piece[..<count]), to: target, of: copy)
            } else if errno != EINTR {
                throw failure("read", path)
            }
        }
        if fsync(target) != 0 { throw failure("write", copy) }
        return true
    }

    /// Makes a file that is not there yet, for its owner alone; the caller closes it.
    package static func openNew(_ path: String) throws(FileSystemFailure) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("make", path) }
        return descriptor
    }

    /// Writes a file that is not there yet, piece by piece, and brings it to the disk.
    ///
    /// - Throws: whatever `body` throws; then what was written so far stays.
    package static func write(
        toNew path: String, _ body: (@escaping ([UInt8]) throws -> Void) throws -> Void
    ) throws {
        let descriptor = try openNew(path)
        defer { close(descriptor) }
        var offset: Int64 = 0
        try body { bytes in
            try writePiece(bytes, at: offset, to: descriptor, of: path)
            offset += Int64(bytes.count)
        }
        if fsync(descriptor) != 0 { throw failure("write", path) }
    }

    /// Writes all of it at the end of an open file.
    ///
    /// - Parameter path: what to call it when that fails.
    package static func write(
        _ bytes: [UInt8], to descriptor: Int32, of path: String
    ) throws(FileSystemFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw failure("write", path)
            }
        }
    }

    /// Writes a file, in place of one that is there.
    package static func write(_ bytes: [UInt8], over path: String) throws(FileSystemFailure) {
        let fresh = "\(path).new"
        removeFile(fresh)
        try write(bytes, toNew: fresh)
        if rename(fresh, path) != 0 { throw failure("write", path) }
    }

    /// Makes a folder and those above it, each for the owner alone; what exists stays.
    package static func makeFolder(_ path: String) throws(FileSystemFailure) {
        if try kind(of: path) != nil { return }
        let above = parent(of: path)
        if let above, above != path { try makeFolder(above) }
        guard mkdir(path, 0o700) == 0 else {
            if errno == EEXIST { return }
            throw failure("make the folder", path)
        }
        // Its name is on the disk before anything is acknowledged that lies in it.
        try synchronize(above ?? ".")
    }

    /// The names within a folder, sorted.
    package static func names(in path: String) throws(FileSystemFailure) -> [String] {
        guard let folder = opendir(path) else { throw failure("list", path) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// The size of a file; 0 when there is none.
    package static func size(of path: String) -> Int64 {
        var status = stat()
        return lstat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// When a file was last written to, in seconds since 1970 by the system's clock; nil when there is none.
    package static func modificationSeconds(of path: String) -> Int64? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
            return Int64(status.st_mtimespec.tv_sec)
        #else
            return Int64(status.st_mtim.tv_sec)
        #endif
    }

    /// Bytes that may still be written to the file system of a folder.
    package static func freeBytes(at path: String) throws(FileSystemFailure) -> Int {
        let status = try room(at: path)
        return bytes(status.f_bavail, status)
    }

    /// How large the file system of a folder is, in bytes.
    package static func diskBytes(at path: String) throws(FileSystemFailure) -> Int {
        let status = try room(at: path)
        return bytes(status.f_blocks, status)
    }

    /// Whether so many more files may be made in the file system of a folder.
    package static func hasRoom(
        forFiles count: Int, at path: String
    ) throws(FileSystemFailure) -> Bool {
        let status = try room(at: path)
        // Some file systems make room for files as they go, and count none.
        return status.f_files == 0 || Int(clamping: status.f_favail) >= count
    }

    private static func room(at path: String) throws(FileSystemFailure) -> statvfs {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw failure("look at the room of", path) }
        return status
    }

    private static func bytes(_ blocks: some BinaryInteger, _ status: statvfs) -> Int {
        let (bytes, overflow) = Int(clamping: blocks).multipliedReportingOverflow(
            by: Int(clamping: status.f_frsize))
        return overflow ? .max : bytes
    }

    /// Removes a folder, unless there is something in it.
    package static func removeEmptyFolder(_ path: String) { rmdir(path) }

    /// Removes a file or folder with everything in it, if it is there; follows no links.
    package static func removeTree(_ path: String) throws(FileSystemFailure) {
        guard let kind = try kind(of: path) else { return }
        if kind == .folder {
            for name in try names(in: path) { try removeTree("\(path)/\(name)") }
        }
        if remove(path) != 0 { throw failure("remove", path) }
    }

    /// Removes a file if it is there, and tells of no failure: for files that are only in the way.
    package static func removeFile(_ path: String) { unlink(path) }

    /// Moves a file or folder within one file system, over no other.
    package static func move(_ path: String, to target: String) throws(FileSystemFailure) {
        guard try kind(of: target) == nil else {
            throw FileSystemFailure("\(target) exists already")
        }
        if rename(path, target) != 0 { throw failure("move \(path) to", target) }
    }

    /// Moves a file within one file system, in place of one that is there.
    package static func move(_ path: String, over target: String) throws(FileSystemFailure) {
        if rename(path, target) != 0 { throw failure("move \(path) to", target) }
    }

    /// Sets who may do what with a file or folder.
    package static func setMode(_ mode: mode_t, of path: String) throws(FileSystemFailure) {
        if chmod(path, mode) != 0 { throw failure("change the mode of", path) }
    }

    /// The folder above, without a trailing slash; nil above `/` and a bare name.
    package static func parent(of path: String) -> String? {
        var trimmed = path[...]
        while trimmed.count > 1, trimmed.last == "/" { trimmed = trimmed.dropLast() }
        guard trimmed != "/", let slash = trimmed.lastIndex(of: "/") else { return nil }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }

    /// Brings a file's content, or a folder's entries, to the disk.
    package static func synchronize(_ path: String) throws(FileSystemFailure) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure("open", path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw failure("synchronize", path) }
    }

    private static func failure(_ what: String, _ path: String) -> FileSystemFailure {
        let code = errno
        return FileSystemFailure(
            "cannot \(what) \(path): \(String(cString: strerror(code)))", code: code)
    }
}

/// The system's `write`, under a name that methods called `write` do not hide.
package func systemWrite(
    _ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int
) -> Int {
    write(descriptor, start, count)
}
