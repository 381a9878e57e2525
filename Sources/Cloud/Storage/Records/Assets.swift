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
    /// The uploads with some ids, in their order; nil for one that is unknown or was forgotten.
    func assetReceipts(_ ids: [[UInt8]]) throws -> [StoredReceipt?]

    /// How many bytes all files of each record take, each file counted once, in the records' order.
    func assetBytes(of records: [RecordNumber]) throws -> [Int]

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

/// Whether the file of an upload is where it belongs, so that the store may come to know it.
package enum AssetPresence {
    /// Nobody knows: only a file that the store has counts.
    case unknown
    /// It was put in place, or seen there, less than half of `AssetRemoval.secondsMax` ago. Another process may have
    /// removed it since then; where that may be, the closure looks.
    case placed(isThere: () throws -> Bool)
}

/// A step in the removal of files whose bytes nothing needs.
package enum AssetRemoval: Sendable {
    /// After so long it has ended, whether somebody said so or not.
    package static let secondsMax: Int64 = 600

    /// Forgets those of some files that nothing has used since a moment.
    case begin([AssetDigest], unusedSince: Milliseconds)
    /// The bytes are gone, or stay.
    case end([AssetDigest])
    /// Forgets at most so many of the uploads that one identity may use; the bytes stay for now.
    case receipts(of: [UInt8], limit: Int)
}

/// What a write does with assets.
package protocol AssetWriting: AssetReading {
    /// Notes an upload.
    ///
    /// - Returns: false for a file that is not certain to be in place and that the store does not have; then nothing
    ///   is noted.
    /// - Throws: `StorageFailure.unavailable(.busy)` for a file that another process removes.
    func addReceipt(
        _ id: [UInt8], _ receipt: StoredReceipt, of file: AssetPresence
    ) throws -> Bool

    /// Begins or ends the removal of files' bytes, or forgets uploads.
    ///
    /// Between begin and end no other process comes to know the files. One that has begun and does not end, as after a crash, ends
    /// by itself after `AssetRemoval.secondsMax`.
    ///
    /// - Returns: those whose bytes may be removed: those of the given ones that the store does not know any more and
    ///   that no other process removes. For uploads, the files that they were of; fewer than the limit once there are
    ///   no more.
    /// - Throws: `StorageFailure.unavailable(.busy)` while a copy is made of the store.
    @discardableResult
    func remove(_ removal: AssetRemoval) throws -> [AssetDigest]
}

extension AssetWriting {
    /// Notes an upload whose file is already in place, and stays there.
    package func addReceipt(_ id: [UInt8], _ receipt: StoredReceipt) throws {
        guard try addReceipt(id, receipt, of: .placed { true }) else {
            throw BrokenInvariant("an upload is noted whose file is in place")
        }
    }

    /// Notes a further receipt for a file that the store has.
    ///
    /// - Returns: false when the store has no such file.
    package func addReceiptForKnown(_ id: [UInt8], _ receipt: StoredReceipt) throws -> Bool {
        try addReceipt(id, receipt, of: .unknown)
    }
}
