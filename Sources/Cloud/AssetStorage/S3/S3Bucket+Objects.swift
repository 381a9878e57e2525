import Cryptography
import HTTPClient

// Objects that are in memory as a whole, for those who keep something else than assets in a bucket.
extension S3Bucket {
    /// Stores an object, in place of one that is there; it is durable when this returns.
    package func put(_ key: String, _ bytes: [UInt8]) throws(AssetFailure) {
        try put(key, .bytes(bytes), payload: SHA256.digest(bytes))
    }

    /// A stretch of an object, or all of it for nil; nil when there is no such object.
    ///
    /// - Throws: `AssetFailure`, also for an object that is shorter than the stretch or longer than `bytesMax`.
    package func bytes(
        of key: String, _ stretch: Range<Int>?, bytesMax: Int
    ) throws(AssetFailure) -> [UInt8]? {
        var range = stretch ?? 0..<0
        if stretch == nil {
            guard let state = try state(of: key) else { return nil }
            range = 0..<state.byteCount
        }
        guard !range.isEmpty else { return [] }
        guard range.count <= bytesMax else {
            throw .system(call: "S3 GET", reason: "an object is longer than \(bytesMax) bytes")
        }
        guard let response = try read(key, range, tag: nil) else { return nil }
        do throws(ClientFailure) {
            let bytes = try response.readAll(bytesMax: range.count)
            guard bytes.count == range.count else { throw .malformed("too short") }
            return bytes
        } catch {
            throw .unavailable(call: "S3 GET", reason: "\(error)")
        }
    }

    /// A page of the objects whose keys begin so, in the order of their keys, after one; fewer than `limit` only at the
    /// end.
    package func objects(
        prefix: String, after: String, limit: Int
    ) throws(AssetFailure) -> [S3ListedObject] {
        try list(prefix: prefix, after: after, limit: limit)
    }

    /// Removes an object, if it is there.
    package func remove(_ key: String) throws(AssetFailure) { try delete(key) }
}
