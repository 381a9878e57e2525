import CloudModel

/// Identifies a client token: one device of one user, in one zone.
package struct ClientTokenKey: Sendable {
    package let zone: ZoneNumber
    package let user: UserRecordName
    /// The device's name for itself.
    package let device: String

    package init(zone: ZoneNumber, user: UserRecordName, device: String) {
        self.zone = zone
        self.user = user
        self.device = device
    }
}

/// What a read sees of the data that devices store with their changes of a zone.
package protocol ClientTokenReading {
    /// The data that a device stored last; nil for none.
    func clientToken(_ key: ClientTokenKey) throws -> [UInt8]?
}

/// What a write does with that data.
package protocol ClientTokenWriting {
    /// Stores a device's data in place of its former data; empty data removes it.
    ///
    /// - Parameter devicesMax: how many devices of one user are kept in one zone. Beyond it, those go that
    ///   have been quiet the longest.
    func setClientToken(_ data: [UInt8], _ key: ClientTokenKey, devicesMax: Int) throws
}
