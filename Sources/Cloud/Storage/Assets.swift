import CloudModel

/// An upload that can be made the value of a field, as stored.
package struct StoredReceipt: Sendable {
    package let content: AssetContent
    /// Who may use the upload, and in which database.
    package let identity: [UInt8]
    package let expires: Milliseconds

    package init(content: AssetContent, identity: [UInt8], expires: Milliseconds) {
        self.content = content
        self.identity = identity
        self.expires = expires
    }
}

/// What a read sees of assets: which files the store knows, which records hold them, which uploads brought
/// them.
///
/// The bytes themselves are kept elsewhere. A file is in place before the store notes it, and the store
/// forgets it before the file is removed. So every file that the store knows is there. At worst, a file is
/// left over that the store does not know.
package protocol AssetReading: AnyObject {
    /// The upload with that id; nil when it is unknown or was forgotten.
    func assetReceipt(_ id: [UInt8]) throws -> StoredReceipt?

    /// How many bytes all files of a record take, each file counted once.
    func assetBytes(of record: RecordNumber) throws -> Int

    /// The files of a selection.
    func assets(_ selection: AssetSelection) throws -> [AssetDigest]
}

/// Which files are asked for.
package enum AssetSelection: Sendable {
    /// Those that no record and no receipt has referred to since a moment.
    case unused(since: Milliseconds, limit: Int)
    /// Those of some that the store does not have.
    case unknown(among: [AssetDigest])
}

/// What a write does with assets.
package protocol AssetWriting: AssetReading {
    /// Notes an upload.
    ///
    /// - Parameter isInPlace: whether its file is certain to be in place, so that the store may come to know it.
    /// - Returns: false for a file that is not certain to be in place and that the store does not have; then nothing
    ///   is noted.
    func addReceipt(_ id: [UInt8], _ receipt: StoredReceipt, isInPlace: Bool) throws -> Bool

    /// Forgets those of the files that are still unused, so that their bytes can be removed.
    ///
    /// - Returns: those that were forgotten.
    func forgetUnusedAssets(
        _ digests: [AssetDigest], since moment: Milliseconds
    ) throws -> [AssetDigest]

    /// Ends the receipts of uploads that one identity may use.
    ///
    /// - Returns: the files that they were for; fewer than `limit` once there are no more.
    func endReceipts(of identity: [UInt8], limit: Int) throws -> [AssetDigest]
}

extension AssetWriting {
    /// Notes an upload whose file is already in place.
    package func addReceipt(_ id: [UInt8], _ receipt: StoredReceipt) throws {
        guard try addReceipt(id, receipt, isInPlace: true) else {
            throw BrokenInvariant("an upload is noted whose file is in place")
        }
    }

    /// Notes a further receipt for a file that the store has.
    ///
    /// - Returns: false when the store has no such file.
    package func addReceiptForKnown(_ id: [UInt8], _ receipt: StoredReceipt) throws -> Bool {
        try addReceipt(id, receipt, isInPlace: false)
    }
}
