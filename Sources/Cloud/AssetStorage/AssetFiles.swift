import Platform

/// The calls on files that a folder of assets needs.
enum AssetFiles {
    static func failure(_ call: String) -> AssetFailure {
        let code = errno
        if code == ENOSPC || code == EDQUOT { return .full }
        // Descriptors come back when others are done with theirs.
        if code == EMFILE || code == ENFILE {
            return .unavailable(call: call, reason: String(cString: strerror(code)))
        }
        return .system(call: call, reason: String(cString: strerror(code)))
    }

    /// Makes a folder where there is none; see `DurableFolders` for one that must not be lost.
    ///
    /// - Returns: whether there was none before.
    @discardableResult
    static func makeFolder(_ path: String) throws(AssetFailure) -> Bool {
        if mkdir(path, 0o700) == 0 { return true }
        guard errno == EEXIST else { throw failure("mkdir") }
        return false
    }

    /// Syncs a folder's entries to the disk.
    static func synchronizeFolder(_ path: String) throws(AssetFailure) {
        let descriptor = Self.open(path, O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0 else { throw failure("open") }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw failure("fsync") }
    }

    /// Opens a file, close-on-exec, and follows no link.
    static func open(_ path: String, _ flags: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        #else
            Darwin.open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        #endif
    }

    static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32
    ) throws(AssetFailure) {
        var rest = bytes
        while !rest.isEmpty {
            #if canImport(Glibc)
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            #else
                let count = Darwin.write(descriptor, rest.baseAddress, rest.count)
            #endif
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if count == 0 || errno != EINTR {
                throw failure("write")
            }
        }
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(AssetFailure) {
        // NB: typed errors do not pass through the standard library's closures.
        var failure: AssetFailure?
        bytes.withUnsafeBytes { bytes in
            do throws(AssetFailure) { try write(bytes, to: descriptor) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Asks the system to begin writing what is behind an offset to the disk; nobody waits for it.
    static func beginWriting(_ descriptor: Int32, from offset: Int) {
        #if canImport(Glibc)
            // What Linux is to forget it writes first, and what is not written yet it keeps.
            posix_fadvise(descriptor, off_t(offset), 0, POSIX_FADV_DONTNEED)
        #endif
    }

    /// Reads from an offset until the count is there or the file ends.
    static func read(
        _ descriptor: Int32, at offset: Int, count: Int
    ) throws(AssetFailure) -> [UInt8] {
        // NB: typed errors do not pass through the standard library's closures.
        var failure: AssetFailure?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { storage, initialized in
            do throws(AssetFailure) {
                initialized = try read(
                    descriptor, at: offset, into: UnsafeMutableRawBufferPointer(storage))
            } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Reads from an offset into a buffer until it is full or the file ends.
    ///
    /// - Returns: how many bytes there were.
    static func read(
        _ descriptor: Int32, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(AssetFailure) -> Int {
        var done = 0
        while done < buffer.count {
            let got = pread(
                descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done,
                off_t(offset + done))
            if got == 0 { break }
            if got > 0 {
                done += got
            } else if errno != EINTR {
                throw failure("pread")
            }
        }
        return done
    }

    static func status(_ descriptor: Int32) throws(AssetFailure) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("fstat") }
        return status
    }

    /// Bytes that may still be written to the file system of a folder.
    static func freeBytes(_ path: String) throws(AssetFailure) -> Int {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw failure("statvfs") }
        let (bytes, overflow) = Int(clamping: status.f_bavail).multipliedReportingOverflow(
            by: Int(clamping: status.f_frsize))
        return overflow ? .max : bytes
    }

    /// The names within a folder, sorted; none when there is no folder.
    static func names(in path: String) throws(AssetFailure) -> [String] {
        guard let folder = opendir(path) else {
            if errno == ENOENT { return [] }
            throw failure("opendir")
        }
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

    /// Removes a folder with all that is in it, if it is there, and follows no link; others may remove it, too.
    static func removeTree(_ path: String) throws(AssetFailure) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw failure("lstat")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return try remove(path) }
        for name in try names(in: path) { try removeTree("\(path)/\(name)") }
        if rmdir(path) != 0, errno != ENOENT { throw failure("rmdir") }
    }

    static func remove(_ path: String) throws(AssetFailure) {
        if unlink(path) != 0, errno != ENOENT { throw failure("unlink") }
    }
}
