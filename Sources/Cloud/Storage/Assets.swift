import CloudModel

/// An upload that can be made the value of a field, as stored.
package struct StoredReceipt: Sendable {
    package let content: AssetContent
    /// Who may use it, in which database.
    package let identity: [UInt8]
    package let expires: Milliseconds

    package init(content: AssetContent, identity: [UInt8], expires: Milliseconds) {
        self.content = content
        self.identity = identity
        self.expires = expires
    }
}

/// What a read sees of assets: which files the store knows, who holds them and how they came.
///
/// The bytes themselves are kept elsewhere. A file is there before the store knows of it, and the store forgets it before
/// the file goes: so what the store knows can be read, and at worst a file is left over.
package protocol AssetReading: AnyObject {
    /// The upload with that id; nil when it is unknown or was forgotten.
    func assetReceipt(_ id: [UInt8]) throws -> StoredReceipt?

    /// The bytes of all files that a record holds, each counted once.
    func assetBytes(of record: RecordNumber) throws -> Int

    /// Files that no record and no receipt has referred to since before a moment.
    func unusedAssets(since moment: Milliseconds, limit: Int) throws -> [AssetDigest]

    /// Which of some digests the store has no file of.
    func unknownAssets(among digests: [AssetDigest]) throws -> [AssetDigest]
}

/// What a write does with assets.
package protocol AssetWriting: AssetReading {
    /// Notes an upload whose file is in place.
    func addReceipt(_ id: [UInt8], _ receipt: StoredReceipt) throws

    /// Notes a further receipt for a file that the store has.
    ///
    /// - Returns: false when the store has no such file.
    func addReceiptForKnown(_ id: [UInt8], _ receipt: StoredReceipt) throws -> Bool

    /// Makes a record hold these files and no others; they count for the owner of its zone.
    ///
    /// - Throws: `BrokenInvariant` for a file that the store does not have: a receipt or the record
    ///   itself must have kept it.
    func replaceAssets(
        of record: RecordNumber, in zone: StoredZone, with files: Set<AssetDigest>) throws

    /// Forgets those of the files that are still unused, so that their bytes can be removed.
    ///
    /// - Returns: those that were forgotten.
    func forgetUnusedAssets(
        _ digests: [AssetDigest], since moment: Milliseconds
    ) throws -> [AssetDigest]
}
