import CloudModel

/// A run of memberships as they follow each other in a feed, with the versions of the records that are still there.
///
/// To read both at once costs a fraction of looking up each version by itself.
package final class MembershipRun {
    /// A version's flags, and where its body lies.
    private struct Body {
        let flags: VersionFlags
        let range: Range<Int>
    }

    package private(set) var memberships: [StoredMembership] = []
    /// Whether nothing follows.
    package private(set) var isLast = false
    private var bodies: [Body?] = []
    private var bytes: [UInt8] = []
    private let limit: Int

    /// After so many bodies the run knows their sizes well enough to make room for the rest.
    private static let sampleCount = 16
    /// The bytes after which a run ends early.
    private static let bytesMax = 1 << 20

    /// - Parameter limit: memberships in the run.
    package init(limit: Int = 0) { self.limit = limit }

    /// Whether one more membership may be added.
    package var hasRoom: Bool { memberships.count < limit && bytes.count < Self.bytesMax }

    /// Adds a membership without its version.
    package func append(_ membership: StoredMembership) {
        memberships.append(membership)
        bodies.append(nil)
    }

    /// Adds a membership with its version; copies the body.
    package func append(_ membership: StoredMembership, _ version: StoredVersion) {
        memberships.append(membership)
        let body = version.body
        bodies.append(Body(flags: version.flags, range: bytes.count..<bytes.count + body.count))
        bytes.append(contentsOf: body)
        if bodies.count == Self.sampleCount {
            let expected = bytes.count / Self.sampleCount * limit
            bytes.reserveCapacity(min(expected + expected / 8, Self.bytesMax))
        }
    }

    /// Notes that nothing follows.
    package func end() { isLast = true }

    /// Visits the version of a membership; nil when the run does not have it.
    package func version<Value>(
        of index: Int, _ visit: (StoredVersion) throws -> Value
    ) rethrows -> Value? {
        guard let body = bodies[index] else { return nil }
        let membership = memberships[index]
        return try bytes.withUnsafeBytes { bytes in
            try visit(
                StoredVersion(
                    record: membership.record, position: membership.version, type: membership.type,
                    flags: body.flags, body: UnsafeRawBufferPointer(rebasing: bytes[body.range])))
        }
    }
}
