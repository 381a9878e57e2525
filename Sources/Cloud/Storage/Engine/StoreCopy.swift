import CloudModel

/// The asset files that a store refers to, for those who copy or check all of its data.
package protocol AssetRows: Sendable {
    /// A page of files in the order of their digests, after one; fewer than `limit` only at the end.
    ///
    /// Blocks.
    ///
    /// - Throws: `EngineFault`.
    func page(after: AssetDigest?, limit: Int) throws -> [AssetRow]
}

/// A file as a store refers to it.
package struct AssetRow: Sendable {
    package let content: AssetContent
    /// Whether a record or a receipt refers to it, so that its bytes must be there.
    package let isNeeded: Bool

    package init(content: AssetContent, isNeeded: Bool) {
        self.content = content
        self.isNeeded = isNeeded
    }
}

/// A store that was copied.
package struct StoreCopy: Sendable {
    /// The paths of the files that the copy consists of.
    package let files: [String]
    package let assets: any AssetRows

    package init(files: [String], assets: any AssetRows) {
        self.files = files
        self.assets = assets
    }
}

/// Something that an engine copies as a whole.
package enum EnginePart: Hashable, Sendable {
    case catalog
    case store(StoreKey)
}

/// A part as it is at one moment, as bytes that only its engine understands; used by one thread.
package struct PartImage {
    package let byteCount: Int64
    /// Up to so many bytes from an offset on; fewer only at the end.
    package let read: (_ offset: Int64, _ count: Int) throws -> [UInt8]
    /// A page of the asset files that it refers to, as `AssetRows.page`.
    package let assets: (_ after: AssetDigest?, _ limit: Int) throws -> [AssetRow]

    package init(
        byteCount: Int64, read: @escaping (Int64, Int) throws -> [UInt8],
        assets: @escaping (AssetDigest?, Int) throws -> [AssetRow]
    ) {
        (self.byteCount, self.read, self.assets) = (byteCount, read, assets)
    }
}
