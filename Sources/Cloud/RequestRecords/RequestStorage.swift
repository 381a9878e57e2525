import CloudModel

/// Where lines of requests are: in a folder of this process, or in a database for all processes.
///
/// It is beside the records' stores, and nothing waits for it. One thread of a process appends; any may search. All
/// methods block.
package protocol RequestStorage: Sendable {
    /// Whether an `append` that throws has stored none of its lines, so that they can be handed over again.
    var storesAllOrNone: Bool { get }

    /// Appends lines, and removes those that are too old or too many.
    ///
    /// - Throws: what the disk or the database reports.
    func append(_ lines: WaitingLines, now: Milliseconds) throws

    /// Hands over the lines that a filter takes, the newest first, until there are none or `body` returns false.
    ///
    /// Lines of several processes are in the order in which they were stored: each process stores once a second. What
    /// is damaged is left out.
    /// - Throws: what `body` throws, and what the database reports.
    func newest(
        _ filter: RequestFilter, _ body: (RequestLocation, RequestEntry) throws -> Bool) throws

    /// Takes the lines of users out, also those of their devices that show no user, and overwrites them where they
    /// were.
    ///
    /// - Returns: how many lines.
    @discardableResult func erase(_ users: Set<String>) throws -> Int

    /// Bytes that are stored now.
    var byteCount: Int { get }
}

extension RequestStorage {
    /// Appends lines that were read elsewhere.
    package func append(_ entries: [RequestEntry], now: Milliseconds) throws {
        var lines = WaitingLines()
        for entry in entries { lines.append(entry) }
        try append(lines, now: now)
    }

    /// Users with the devices that they alone have used: of others' it is not known who was refused.
    package func person(_ users: Set<String>) throws -> RequestFilter.Person {
        var devices: Set<String> = []
        try newest(RequestFilter(person: .init(users: users))) { _, entry in
            if let device = entry.device { devices.insert(device) }
            return true
        }
        let own = try devices.filter { device in
            var isShared = false
            try newest(RequestFilter(device: device)) { _, entry in
                isShared = entry.user.map { !users.contains($0) } ?? false
                return !isShared
            }
            return !isShared
        }
        return RequestFilter.Person(users: users, devices: own)
    }
}
