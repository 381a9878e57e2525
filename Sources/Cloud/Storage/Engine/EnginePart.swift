import CloudModel

/// Something that an engine backs up and restores as a whole.
package enum EnginePart: Hashable, Sendable {
    case catalog
    case store(StoreKey)
}

/// A part as it is at one moment, in bytes that only its engine understands; used by one thread.
package protocol PartImage: AnyObject {
    /// What stays the same as long as the part does; nil where nobody can tell without reading it.
    var mark: [UInt8]? { get }

    /// Up to so many bytes from an offset on; fewer only at the end.
    func read(at offset: Int64, count: Int) throws -> [UInt8]

    /// A page of the asset files that the part refers to, in the order of their digests, after one; fewer than `limit`
    /// only at the end.
    func assets(after digest: AssetDigest?, limit: Int) throws -> [AssetRow]

    /// What is wrong with the bytes, one line for each problem; reads all of them through.
    func problems() throws -> [String]
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
