import CloudModel

/// What a read finds of somebody who is erased.
package protocol ErasureReading: AnyObject {
    /// Notices that wait or were given up, and speak of a person or of zones of theirs.
    func notices(speakingOf person: UserRecordName) throws -> [NoticeNumber]

    /// Whether all who follow the store have come to a position, so that nothing is kept for them of before it.
    func isFollowed(through position: Position) throws -> Bool
}

/// What a write forgets of somebody who is erased, sooner than it would of itself.
package protocol ErasureWriting: ErasureReading {
    /// Ends the receipts of uploads that one identity may use.
    ///
    /// - Returns: the files that they were for; fewer than `limit` once there are no more.
    func endReceipts(of identity: [UInt8], limit: Int) throws -> [AssetDigest]

    /// Forgets the deleted zones of an owner, with what tells others of their deletion.
    ///
    /// Those who saw something of them find the tokens of their shared databases expired. The zones' records must
    /// be gone.
    ///
    /// - Returns: whether there are more.
    func forgetDeletedZones(of owner: UserRecordName, rowsMax: Int) throws -> Bool

    /// Forgets what a person's devices have left with zones of others.
    func forgetClientTokens(of user: UserRecordName) throws

    /// Forgets what is kept for followers of versions before changes up to a position.
    ///
    /// Who follows and has not come so far hears of these changes as of records that nobody knows any more.
    ///
    /// - Returns: whether there is more.
    func forgetPrevious(through position: Position, rowsMax: Int) throws -> Bool
}
