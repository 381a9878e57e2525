import CloudModel

/// What a read finds of somebody who is erased.
package protocol ErasureReading: AnyObject {
    /// Notices that wait or were given up, and speak of a person or of that person's zones.
    func notices(speakingOf person: UserRecordName) throws -> [NoticeNumber]
}

/// What a write forgets of somebody who is erased, sooner than it would of itself.
package protocol ErasureWriting: ErasureReading {
    /// Ends the receipts of uploads that one identity may use.
    ///
    /// - Returns: the files that they were for; fewer than `limit` once there are no more.
    func endReceipts(of identity: [UInt8], limit: Int) throws -> [AssetDigest]

    /// Forgets what a person and their devices have left to be told of and to take part: subscriptions, destinations with
    /// their notices, requests for access and blocks against them, what devices left with zones.
    func forget(_ person: UserRecordName) throws
}
