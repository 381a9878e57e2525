import CloudModel

/// Which lines somebody asks for; what is nil or empty asks for all.
package struct RequestFilter: Sendable {
    /// A user and the devices that count as theirs where a line shows no user.
    package struct Person: Sendable, Equatable {
        package var users: Set<String>
        package var devices: Set<String>

        package init(users: Set<String>, devices: Set<String> = []) {
            self.users = users
            self.devices = devices
        }

        /// By which a segment finds their lines.
        var keys: [UInt64] {
            users.map { SegmentIndex.key(user: $0) } + devices.map { SegmentIndex.key(device: $0) }
        }

        /// Whether a line is theirs: a device's lines without a user are those that were refused.
        package func has(_ entry: RequestEntry) -> Bool {
            if let user = entry.user { return users.contains(user) }
            return entry.device.map { devices.contains($0) } ?? false
        }
    }

    package var container: String?
    package var environment: Environment?
    package var person: Person?
    package var device: String?
    package var operation: String?
    /// A `FaultCode`, of the request or of an item.
    package var code: String?
    package var since: Milliseconds
    /// Lines of that moment and later are left out.
    package var until: Milliseconds
    /// The lines after this one.
    package var after: RequestLocation?
    /// The lines before this one.
    package var before: RequestLocation?

    package init(
        container: String? = nil, environment: Environment? = nil, person: Person? = nil,
        device: String? = nil, operation: String? = nil, code: String? = nil,
        since: Milliseconds = .min, until: Milliseconds = .max,
        after: RequestLocation? = nil, before: RequestLocation? = nil
    ) {
        self.container = container
        self.environment = environment
        self.person = person
        self.device = device
        self.operation = operation
        self.code = code
        self.since = since
        self.until = until
        self.after = after
        self.before = before
    }

    /// One of these every line has that it takes; nil where it asks for nobody's.
    package var keys: [UInt64]? {
        person?.keys ?? device.map { [SegmentIndex.key(device: $0)] }
    }

    func takes(_ entry: RequestEntry) -> Bool {
        guard entry.time >= since, entry.time < until else { return false }
        if let container, entry.container != container { return false }
        if let environment, entry.environment != environment { return false }
        if let person, !person.has(entry) { return false }
        if let device, entry.device != device { return false }
        if let operation, entry.operation != operation { return false }
        if let code, !entry.failed(with: code) { return false }
        return true
    }
}

/// Where a line is: lines later in time have later places, but for those of one moment.
package struct RequestLocation: Sendable, Hashable, Comparable {
    package let segment: UInt64
    package let offset: UInt32

    package init(segment: UInt64, offset: UInt32) {
        self.segment = segment
        self.offset = offset
    }

    package static func < (one: RequestLocation, other: RequestLocation) -> Bool {
        (one.segment, one.offset) < (other.segment, other.offset)
    }
}
