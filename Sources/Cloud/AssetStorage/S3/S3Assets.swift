import CloudModel
import HTTPClient

/// Assets in a bucket of an S3-compatible store: an object each, named by its digest below a prefix.
///
/// Uploads come into a folder of this machine. There they are hashed, and sealed if there is a key.
/// They are in the bucket before they count as in place. An object that is there already is sent
/// once more. Otherwise people could learn from a fast upload that somebody has the same file. This
/// machine keeps the sums of the parts, and checks by them what comes back.
package final class S3Assets: AssetBlobStore {
    private let bucket: S3Bucket
    private let prefix: String
    private let staging: FolderAssets
    private let key: AssetKey?
    private let ownership: S3Ownership?
    private let sendsClientsThere: Bool

    /// - Parameters:
    ///   - prefix: how the keys of this container environment begin, with a slash at the end.
    ///   - staging: where uploads are received; it has the same key.
    ///   - ownership: asked before anything is written or removed there.
    ///   - sendsClientsThere: whether clients get addresses at the store to download from.
    package init(
        _ bucket: S3Bucket, prefix: String, staging: FolderAssets, key: AssetKey? = nil,
        ownership: S3Ownership? = nil, sendsClientsThere: Bool = false
    ) {
        self.bucket = bucket
        self.prefix = prefix
        self.staging = staging
        self.key = key
        self.ownership = ownership
        self.sendsClientsThere = sendsClientsThere
    }

    package var isLocal: Bool { false }

    package func begin(expectedBytes: Int) throws(AssetFailure) -> any AssetUpload {
        S3Upload(to: self, file: try staging.beginFile(expectedBytes: expectedBytes))
    }

    package func begin(
        resumable name: String, byteCount: Int
    ) throws(AssetFailure) -> any AssetUpload {
        S3Upload(
            to: self, file: try staging.beginFile(resumable: name, byteCount: byteCount))
    }

    package func canResume(_ name: String) -> Bool { staging.canResume(name) }

    package func resume(_ name: String) throws(AssetFailure) -> ResumedAsset? {
        try staging.resumeFile(name).map {
            ResumedAsset(
                upload: S3Upload(to: self, file: $0.file), byteCount: $0.byteCount,
                received: $0.file.byteCount)
        }
    }

    package func open(_ digest: AssetDigest) throws(AssetFailure) -> (any AssetReader)? {
        for isSealed in key == nil ? [false, true] : [true, false] {
            let name = name(of: digest, isSealed: isSealed)
            guard let state = try bucket.state(of: name) else { continue }
            let object = S3Object(bucket, key: name, digest: digest, state: state)
            guard isSealed else {
                return S3PlainReader(object, digest, staging.sums)
            }
            guard let key else { throw .keyMissing }
            return try SealedReader(object, digest: digest, key: key)
        }
        return nil
    }

    package func delete(_ digest: AssetDigest) throws(AssetFailure) {
        try ownership?.confirm()
        for isSealed in [false, true] {
            try bucket.delete(name(of: digest, isSealed: isSealed))
        }
        try staging.sums.remove(digest)
    }

    package func list(
        after: AssetDigest?, limit: Int
    ) throws(AssetFailure) -> [AssetListing] {
        var found: [AssetListing] = []
        // Both kinds of a digest lie together, the sealed one last.
        var last = after.map { name(of: $0, isSealed: true) } ?? ""
        while found.count < limit {
            let wanted = limit - found.count
            let page = try bucket.list(prefix: prefix, after: last, limit: wanted)
            for object in page {
                guard let listing = listing(object), found.last?.digest != listing.digest else {
                    continue
                }
                found.append(listing)
            }
            guard page.count == wanted, let end = page.last?.key else { break }
            last = end
        }
        return found
    }

    private func listing(_ object: S3ListedObject) -> AssetListing? {
        let name = object.key.dropFirst(prefix.count)
        let isSealed = name.hasSuffix(FolderAssets.sealedSuffix)
        let stem = isSealed ? name.dropLast(FolderAssets.sealedSuffix.count) : name
        return AssetDigest(hexadecimal: stem).map {
            AssetListing(
                digest: $0, placed: object.modified,
                byteCount: isSealed
                    ? AssetCipher.contentBytes(ofSealed: object.byteCount) : object.byteCount)
        }
    }

    package func removeUnfinished() throws(AssetFailure) { try staging.removeUnfinished() }

    package func removeUnfinished(named prefix: String) throws(AssetFailure) {
        try staging.removeUnfinished(named: prefix)
    }

    package func removeAbandoned(begunBefore moment: Milliseconds) throws(AssetFailure) {
        try staging.removeAbandoned(begunBefore: moment)
        try ownership?.confirm()
        for upload in try bucket.unfinishedUploads(prefix: prefix) where upload.begun < moment {
            try bucket.abort(upload.key, upload.id)
        }
    }

    package func removeEverything(while goesOn: () -> Bool) throws(AssetFailure) {
        guard goesOn() else { throw .removalEnded }
        try removeAbandoned(begunBefore: .max)
        var last = ""
        while true {
            let page = try bucket.list(prefix: prefix, after: last, limit: 1_000)
            for object in page {
                guard goesOn() else { throw .removalEnded }
                try bucket.delete(object.key)
            }
            guard page.count == 1_000, let end = page.last?.key else { break }
            last = end
        }
        try staging.removeEverything(while: goesOn)
    }

    package func address(
        of digest: AssetDigest, presentation: AssetPresentation, seconds: Int64
    ) -> String? {
        // What is sealed only this server can open; and what was stored before the setting is rare then.
        guard sendsClientsThere, key == nil else { return nil }
        return bucket.address(
            of: name(of: digest, isSealed: false),
            query: [
                ("response-content-disposition", presentation.disposition),
                ("response-content-type", presentation.type),
            ], seconds: seconds)
    }

    private func name(of digest: AssetDigest, isSealed: Bool) -> String {
        prefix + digest.hexadecimal + (isSealed ? FolderAssets.sealedSuffix : "")
    }

    /// Puts a file of this machine into the bucket.
    fileprivate func accept(
        _ file: FolderUpload, _ content: AssetContent
    ) throws(AssetFailure) {
        try ownership?.confirm()
        let name = name(of: content.digest, isSealed: file.isSealed)
        let (descriptor, isSealed) = (file.descriptor, file.isSealed)
        let byteCount = Int(try AssetFiles.status(descriptor).st_size)
        let read = { (offset: Int, count: Int) throws(AssetFailure) -> [UInt8] in
            try AssetFiles.read(descriptor, at: offset, count: count)
        }
        if byteCount > bucket.options.partBytes {
            return try bucket.putInParts(name, byteCount: byteCount, read: read)
        }
        let payload =
            isSealed ? try S3Bucket.digest(0, byteCount, read) : content.digest.bytes
        try bucket.put(
            name, ClientBody(byteCount: byteCount) { try read($0, $1) }, payload: payload)
    }
}

/// A file on its way into a bucket, by way of this machine.
private final class S3Upload: AssetUpload {
    private let storage: S3Assets
    private let file: FolderUpload
    private var isInPlace = false

    init(to storage: S3Assets, file: FolderUpload) {
        self.storage = storage
        self.file = file
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(AssetFailure) { try file.append(bytes) }

    func seal() throws(AssetFailure) -> AssetContent { try file.seal() }

    func place() throws(AssetFailure) {
        guard !isInPlace else { return }
        let content = try file.seal()
        try storage.accept(file, content)
        file.recordSums(content)
        isInPlace = true
        file.discard()
    }

    func discard() { file.discard() }
}
