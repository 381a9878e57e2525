import Foundation
import Testing

/// A disk of a few MiB in memory; needs the right to mount.
final class SmallDisk: Sendable {
    let folder: TemporaryFolder

    /// Nil when this process may not mount, which is a failure where no test may be left out.
    static func make(bytes: Int) throws -> SmallDisk? {
        if let disk = try SmallDisk(bytes: bytes) { return disk }
        let isRequired = ProcessInfo.processInfo.environment["CI_REQUIRE_ALL"] == "1"
        try #require(!isRequired, "mounting a small disk needs root on Linux")
        print("skipped: mounting a small disk needs root on Linux")
        return nil
    }

    private init?(bytes: Int) throws {
        folder = try TemporaryFolder()
        #if os(Linux)
            guard geteuid() == 0, mount("tmpfs", folder.root, "tmpfs", 0, "size=\(bytes)") == 0
            else {
                return nil
            }
        #else
            return nil
        #endif
    }

    deinit {
        #if os(Linux)
            umount2(folder.root, Int32(MNT_DETACH))
        #endif
    }

    /// Fills what is left, to the last page; false when something is left all the same.
    func fill(_ name: String = "filler") -> Bool {
        let file = open(folder.path(name), O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        let page = [UInt8](repeating: 1, count: 4_096)
        while write(file, page, page.count) > 0 {}
        return errno == ENOSPC
    }

    /// Makes the room that `fill` took.
    func empty(_ name: String = "filler") { unlink(folder.path(name)) }
}
