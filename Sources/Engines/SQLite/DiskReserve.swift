import Platform

/// Disk space held back by a file of zeros, let go when the disk is full.
///
/// What it frees keeps deletes, the log's checkpoint and the shutdown working. Confined to the
/// writer's queue.
package final class DiskReserve {
    /// Where the reserve lies and how large it is.
    package struct Options: Sendable {
        package var path: String
        package var bytes: Int

        package init(path: String, bytes: Int) {
            self.path = path
            self.bytes = bytes
        }
    }

    private let options: Options
    package private(set) var isHeld = false

    /// Takes over a reserve that lies there already, whole or not; `hold` makes it whole.
    package init(_ options: Options) { self.options = options }

    /// Makes the file whole; false when the disk has no room for it and an eighth more.
    ///
    /// The eighth is for the writes that go on then: without it the disk would be full at the next.
    package func hold() -> Bool {
        guard !isHeld else { return true }
        let file = open(options.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        guard allocate(file, options.bytes + options.bytes / 8),
            ftruncate(file, off_t(options.bytes)) == 0
        else {
            // A half reserve would take the very room that deletes need.
            unlink(options.path)
            return false
        }
        isHeld = true
        return true
    }

    /// Gives the space back to the disk.
    package func release() {
        unlink(options.path)
        isHeld = false
    }

    private func allocate(_ file: Int32, _ bytes: Int) -> Bool {
        #if canImport(Glibc)
            var code: Int32
            repeat { code = posix_fallocate(file, 0, off_t(bytes)) } while code == EINTR
            return code == 0
        #else
            var request = fstore_t(
                fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0,
                fst_length: off_t(bytes), fst_bytesalloc: 0)
            return fcntl(file, F_PREALLOCATE, &request) != -1
        #endif
    }
}
