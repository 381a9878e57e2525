import AssetStorage
import CloudModel

/// The files of another storage, with something done before each is removed.
final class HookedAssets: AssetBlobStore {
    private let files: any AssetBlobStore
    private let beforeDeletion: @Sendable () -> Void

    init(_ files: any AssetBlobStore, beforeDeletion: @escaping @Sendable () -> Void) {
        self.files = files
        self.beforeDeletion = beforeDeletion
    }

    func delete(_ digest: AssetDigest) throws(AssetFailure) {
        beforeDeletion()
        try files.delete(digest)
    }

    var isLocal: Bool { files.isLocal }

    func begin(expectedBytes: Int) throws(AssetFailure) -> any AssetUpload {
        try files.begin(expectedBytes: expectedBytes)
    }

    func begin(
        resumable name: String, byteCount: Int
    ) throws(AssetFailure) -> any AssetUpload {
        try files.begin(resumable: name, byteCount: byteCount)
    }

    func canResume(_ name: String) -> Bool { files.canResume(name) }

    func resume(_ name: String) throws(AssetFailure) -> ResumedAsset? { try files.resume(name) }

    func open(_ digest: AssetDigest) throws(AssetFailure) -> (any AssetReader)? {
        try files.open(digest)
    }

    func list(after: AssetDigest?, limit: Int) throws(AssetFailure) -> [AssetListing] {
        try files.list(after: after, limit: limit)
    }

    func removeUnfinished() throws(AssetFailure) { try files.removeUnfinished() }

    func removeAbandoned(begunBefore moment: Milliseconds) throws(AssetFailure) {
        try files.removeAbandoned(begunBefore: moment)
    }

    func removeUnfinished(named prefix: String) throws(AssetFailure) {
        try files.removeUnfinished(named: prefix)
    }

    func removeEverything(while goesOn: () -> Bool) throws(AssetFailure) {
        try files.removeEverything(while: goesOn)
    }
}
