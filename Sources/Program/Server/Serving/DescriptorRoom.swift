import Control

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// How the limit on open files is shared out: connections get what files do not need.
///
/// So an upload, a store or a command finds a descriptor also while all connections are taken.
package struct DescriptorRoom: Sendable, Equatable {
    /// Kept for stores, assets and commands, whatever the limit.
    private static let filesMin = 24
    /// Enough for all servers but those with very many stores and uploads.
    private static let filesMax = 2_048
    private static let refusedMax = 256
    private static let connectionsMin = 4

    /// How many descriptors the process may have.
    let limit: Int
    /// What the rest of the server has opened or will open at its start.
    let inUse: Int

    package init(limit: Int, inUse: Int) {
        self.limit = limit
        self.inUse = inUse
    }

    /// The room of this process, before it listens.
    ///
    /// - Parameter beside: descriptors that the start is still going to open.
    static func now(beside: Int) -> DescriptorRoom {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else {
            return DescriptorRoom(limit: .max, inUse: 0)
        }
        let count = Int(clamping: limit.rlim_cur)
        let open = (0..<Int32(clamping: min(count, 4_096))).count { fcntl($0, F_GETFD) >= 0 }
        return DescriptorRoom(limit: count, inUse: open + beside)
    }

    /// Whether the process, or the system, has as many files open as it may.
    static var isUsedUp: Bool {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == EMFILE || errno == ENFILE }
        close(descriptor)
        return false
    }

    /// As many connections as wanted, or as there is room for.
    ///
    /// - Throws: `CommandFailure` where there is room for hardly any.
    package func connections(wanted: Int) throws(CommandFailure) -> Int {
        let files = min(max(Self.filesMin, limit / 4), Self.filesMax)
        let free = limit - min(limit, inUse + files)
        // Some are for those that are told that there are too many.
        let room = free - min(Self.refusedMax, free / 5)
        guard room >= Self.connectionsMin else {
            let needed = inUse + Self.filesMin + 2 * Self.connectionsMin
            throw CommandFailure(
                "the limit on open files is \(limit); the server needs at least \(needed) "
                    + "(ulimit -n, LimitNOFILE)")
        }
        return min(wanted, room)
    }

    /// Raises the limit of descriptors as far as the system allows.
    package static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        // NB: with fewer descriptors the server takes fewer connections; it works all the same.
        _ = setrlimit(resource, &limit)
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
