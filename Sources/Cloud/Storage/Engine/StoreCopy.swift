import CloudModel

/// The files of assets that a store speaks of, for those who copy or check all of its data.
package protocol AssetRows: Sendable {
    /// Those after a digest, in the order of their digests; fewer than `limit` at the end.
    ///
    /// Blocks.
    ///
    /// - Throws: `EngineFault`.
    func page(after: AssetDigest?, limit: Int) throws -> [AssetRow]
}

/// A file as a store speaks of it.
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
    /// Their paths.
    package let files: [String]
    package let assets: any AssetRows

    package init(files: [String], assets: any AssetRows) {
        self.files = files
        self.assets = assets
    }
}
