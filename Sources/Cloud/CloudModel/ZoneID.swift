/// A zone as a request names it: its name and, when given, its owner.
package struct ZoneID: Hashable, Sendable {
    package let name: ZoneName
    /// Nil for the caller, however the request spelt it (rulings.md 1).
    package let owner: UserRecordName?

    package init(name: ZoneName, owner: UserRecordName? = nil) {
        self.name = name
        self.owner = owner
    }

    /// What a request without a zone means.
    package static let defaultZone = ZoneID(name: .defaultZone)
}
