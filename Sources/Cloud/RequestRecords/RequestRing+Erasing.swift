import CloudModel
import Files
import Platform

extension RequestRing {
    /// Takes the lines of users out, and overwrites them where they were.
    ///
    /// Also the lines of their devices that show no user. A segment that has some is written anew without them, and
    /// the bytes of the old one are overwritten. After a crash in between, the next start goes on with that. Blocks.
    ///
    /// - Returns: how many lines.
    /// - Throws: `FileSystemFailure`; then some may be left, and it can be done again.
    @discardableResult
    package func erase(_ users: Set<String>) throws(FileSystemFailure) -> Int {
        let person = RequestFilter.Person(users: users, devices: devices(of: users))
        return try state.withLock { state throws(FileSystemFailure) in
            if state.active != nil { try seal(&state) }
            var erased = 0
            for index in state.full.indices {
                let (bytes, count) = try rewrite(state.full[index].number, without: person)
                if count > 0 { state.full[index].bytes = bytes }
                erased += count
            }
            return erased
        }
    }

    /// The devices that users alone have used: of others' it is not known who was refused.
    package func devices(of users: Set<String>) -> Set<String> {
        var devices: Set<String> = []
        newest(RequestFilter(person: .init(users: users))) { _, entry in
            if let device = entry.device { devices.insert(device) }
            return true
        }
        return devices.filter { device in
            var isShared = false
            newest(RequestFilter(device: device)) { _, entry in
                isShared = entry.user.map { !users.contains($0) } ?? false
                return !isShared
            }
            return !isShared
        }
    }

    private func rewrite(
        _ number: UInt64, without person: RequestFilter.Person
    ) throws(FileSystemFailure) -> (bytes: Int, erased: Int) {
        let path = Self.path(number, in: folder)
        guard let segment = Segment(full: path) else { return (0, 0) }
        var kept = WaitingLines()
        var first: Milliseconds?
        var erased = 0
        do throws(DamagedLine) {
            let keys =
                person.users.map { SegmentIndex.key(user: $0) }
                + person.devices.map { SegmentIndex.key(device: $0) }
            var isThere = false
            for key in keys where try !segment.lines(of: key).isEmpty { isThere = true }
            guard isThere else { return (0, 0) }
            for offset in try segment.allLines() {
                let entry = try segment.entry(at: offset)
                if person.has(entry) {
                    erased += 1
                } else {
                    kept.append(entry)
                    first = first ?? entry.time
                }
            }
        } catch {
            // What cannot be read any more goes as a whole.
            (kept, erased) = (WaitingLines(), max(1, erased))
        }
        guard erased > 0 else { return (0, 0) }
        let fresh = path + Self.newSuffix
        let writer = try SegmentWriter(new: fresh, base: first ?? 0)
        try writer.append(kept)
        try writer.seal()
        let erasing = path + Self.erasingSuffix
        try FileSystem.move(path, over: erasing)
        try FileSystem.move(fresh, over: path)
        try FileSystem.synchronize(folder)
        try Self.overwrite(erasing)
        return (writer.byteCount, erased)
    }

    /// Finishes an erasure that a crash has cut off: a segment that was written anew takes its place, and what it
    /// was written from is overwritten.
    static func finishErasing(in folder: String) throws(FileSystemFailure) {
        let names = try FileSystem.names(in: folder)
        for name in names where name.hasSuffix(newSuffix) {
            let path = "\(folder)/\(name)"
            let target = String(path.dropLast(newSuffix.count))
            if try FileSystem.kind(of: target) == nil, Segment(full: path) != nil {
                try FileSystem.move(path, over: target)
            } else {
                try overwrite(path)
            }
        }
        for name in names where name.hasSuffix(erasingSuffix) {
            try overwrite("\(folder)/\(name)")
        }
    }

    /// Overwrites a file with zeros, on the disk, and removes it.
    static func overwrite(_ path: String) throws(FileSystemFailure) {
        let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileSystemFailure("open \(path)", code: errno) }
        defer { close(descriptor) }
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        let end = Int(lseek(descriptor, 0, SEEK_END))
        var offset = 0
        while offset < end {
            let count = pwrite(descriptor, zeros, min(zeros.count, end - offset), off_t(offset))
            if count > 0 {
                offset += count
            } else if errno != EINTR {
                throw FileSystemFailure("write \(path)", code: errno)
            }
        }
        guard fsync(descriptor) == 0 else {
            throw FileSystemFailure("fsync \(path)", code: errno)
        }
        FileSystem.removeFile(path)
    }
}
