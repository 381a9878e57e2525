import CloudModel

/// A run of stays as they follow each other in a feed, with the versions of the records that are still there.
///
/// To read both at once costs a fraction of looking up each version by itself.
package final class StayRun {
    /// A version's flags, and where its body lies.
    private struct Body {
        let flags: VersionFlags
        let range: Range<Int>
    }

    package private(set) var stays: [StoredStay] = []
    /// Whether nothing follows.
    package private(set) var isLast = false
    private var bodies: [Body?] = []
    private var bytes: [UInt8] = []
    private let limit: Int

    /// After so many bodies the run knows their sizes well enough to make room for the rest.
    private static let sampleCount = 16
    /// The bytes after which a run ends early.
    private static let bytesMax = 1 << 20

    /// - Parameter limit: stays in the run.
    package init(limit: Int) { self.limit = limit }

    /// Whether one more stay may be added.
    package var hasRoom: Bool { stays.count < limit && bytes.count < Self.bytesMax }

    /// Adds a stay without its version.
    package func append(_ stay: StoredStay) {
        stays.append(stay)
        bodies.append(nil)
    }

    /// Adds a stay with its version; copies the body.
    package func append(_ stay: StoredStay, _ version: StoredVersion) {
        stays.append(stay)
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

    /// Visits the version of a stay; nil when the run does not have it.
    package func version<Value>(
        of index: Int, _ visit: (StoredVersion) throws -> Value
    ) rethrows -> Value? {
        guard let body = bodies[index] else { return nil }
        let stay = stays[index]
        return try bytes.withUnsafeBytes { bytes in
            try visit(
                StoredVersion(
                    record: stay.record, position: stay.version, type: stay.type,
                    flags: body.flags, body: UnsafeRawBufferPointer(rebasing: bytes[body.range])))
        }
    }
}
