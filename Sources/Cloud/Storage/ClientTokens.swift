import CloudModel

/// Whose client token it is: of one device of one user, in one zone.
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

/// What a read sees of the data that devices leave with their changes of a zone.
package protocol ClientTokenReading {
    /// The data that a device left last; nil for none.
    func clientToken(_ key: ClientTokenKey) throws -> [UInt8]?
}

/// What a write does with that data.
package protocol ClientTokenWriting {
    /// Keeps a device's data in place of its former; no data forgets it.
    ///
    /// - Parameter devicesMax: of one user in one zone; beyond it those go that have been quiet the longest.
    func setClientToken(_ data: [UInt8], _ key: ClientTokenKey, devicesMax: Int) throws
}
