import AssetStorage

/// Keeps the objects of backups in a bucket, below a prefix.
package struct BucketObjects: BackupObjects {
    private static let bytesMax = 1 << 30
    private static let namesPerRequest = 1_000

    private let bucket: S3Bucket
    private let prefix: String

    /// - Parameter prefix: empty, or with `/` at its end.
    package init(_ bucket: S3Bucket, prefix: String) {
        self.bucket = bucket
        self.prefix = prefix
    }

    package func put(_ name: String, _ bytes: [UInt8]) throws {
        try bucket.put(prefix + name, bytes)
    }

    package func read(_ name: String, _ stretch: Range<Int>?) throws -> [UInt8]? {
        try bucket.bytes(of: prefix + name, stretch, bytesMax: Self.bytesMax)
    }

    package func list(_ start: String) throws -> [BackupObject] {
        var found: [BackupObject] = []
        while true {
            let page = try bucket.objects(
                prefix: prefix + start, after: found.last.map { prefix + $0.name } ?? "",
                limit: Self.namesPerRequest)
            found += page.map {
                BackupObject(name: String($0.key.dropFirst(prefix.count)), byteCount: $0.byteCount)
            }
            guard page.count == Self.namesPerRequest else { return found }
        }
    }

    package func delete(_ name: String) throws { try bucket.remove(prefix + name) }
}
