import CloudModel
import Files
import Platform

extension RequestRing {
    /// A segment that has some is written anew without them.
    ///
    /// The bytes of the old one are overwritten. After a crash in between, the next start goes on with that.
    ///
    /// - Throws: `FileSystemFailure`; then some may be left, and it can be done again.
    @discardableResult
    package func erase(_ users: Set<String>) throws -> Int {
        let person = try person(users)
        return try state.withLock { state in
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

    private func rewrite(
        _ number: UInt64, without person: RequestFilter.Person
    ) throws(FileSystemFailure) -> (bytes: Int, erased: Int) {
        let path = Self.path(number, in: folder)
        guard let segment = Segment(full: path),
            let (others, erased) = segment.lines(without: person)
        else { return (0, 0) }
        let fresh = path + Self.newSuffix
        let writer = try SegmentWriter(new: fresh, base: segment.times.first)
        try writer.append(others)
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
