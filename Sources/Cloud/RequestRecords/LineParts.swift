/// What a line has of what not every line has.
///
/// Its texts stand in a line in the order of these numbers.
package struct LineParts: OptionSet, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let operation = LineParts(rawValue: 1 << 0)
    package static let container = LineParts(rawValue: 1 << 1)
    package static let user = LineParts(rawValue: 1 << 2)
    package static let device = LineParts(rawValue: 1 << 3)
    package static let software = LineParts(rawValue: 1 << 4)
    package static let session = LineParts(rawValue: 1 << 5)
    static let zones = LineParts(rawValue: 1 << 6)
    package static let key = LineParts(rawValue: 1 << 7)
    package static let code = LineParts(rawValue: 1 << 8)
    package static let reason = LineParts(rawValue: 1 << 9)
    static let date = LineParts(rawValue: 1 << 10)
    static let failures = LineParts(rawValue: 1 << 11)
    static let notices = LineParts(rawValue: 1 << 12)
    static let writes = LineParts(rawValue: 1 << 13)
    static let saved = LineParts(rawValue: 1 << 14)
    /// Only while a line waits: a zone says by itself whether it has an owner.
    static let zoneOwner = LineParts(rawValue: 1 << 15)

    /// Those that are texts, in the order in which a line has them.
    static let texts: [LineParts] = [
        .operation, .container, .user, .device, .software, .session, .key, .code, .reason,
    ]
}

/// What a zone of a line has of what not every zone has.
struct LineZoneParts: OptionSet {
    let rawValue: UInt8
    static let owner = LineZoneParts(rawValue: 1)
    static let from = LineZoneParts(rawValue: 2)
    static let to = LineZoneParts(rawValue: 4)
    static let more = LineZoneParts(rawValue: 8)
}
