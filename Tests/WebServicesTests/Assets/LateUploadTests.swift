import AssetStorage
import CloudDatabase
import CloudModel
import Storage
import Synchronization
import Testing

@Suite("Uploads whose files take long to get into place, as into a bucket")
struct LateUploadTests {
    /// Moments that the test sets.
    private final class Time: Sendable {
        private let moment = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { moment.withLock { $0 } }

        func pass(minutes: Int) {
            moment.withLock { $0 = $0.advanced(by: .seconds(minutes * 60)) }
        }
    }

    /// An upload with something done once its file is in place.
    private final class HookedUpload: AssetUpload {
        private let upload: any AssetUpload
        private let afterwards: () throws -> Void

        init(_ upload: any AssetUpload, afterwards: @escaping () throws -> Void) {
            self.upload = upload
            self.afterwards = afterwards
        }

        func append(_ bytes: UnsafeRawBufferPointer) throws(AssetFailure) {
            try upload.append(bytes)
        }

        func seal() throws(AssetFailure) -> AssetContent { try upload.seal() }

        func place() throws(AssetFailure) {
            try upload.place()
            do { try afterwards() } catch {
                throw .system(call: "test", reason: "\(error)")
            }
        }

        func discard() { upload.discard() }
    }

    private let server: WireServer
    private let time = Time()

    init() throws { server = try WireServer() }

    /// Uploads a file.
    ///
    /// - Parameters:
    ///   - placed: what happens before the file counts as in place.
    ///   - noted: what happens in the transaction that notes it, before that.
    private func upload(
        placed: @escaping (any AssetBlobStore, AssetDigest) throws -> Void,
        noted: @escaping @Sendable () -> Void = {}
    ) throws -> AssetReceipt {
        let (store, files) = (try server.store(), try server.assetStore())
        let upload = try files.storage.begin(expectedBytes: 1)
        try [1].withUnsafeBytes { try upload.append($0) }
        let digest = try upload.seal().digest
        let askedCount = Atomic(0)
        let receive = ReceiveAsset(
            store, assetStore: files,
            tokens: AssetTokens(key: try store.identity.tokenKey, base: ""), random: .system,
            now: { [time] in time.now },
            requireUploader: {
                // Asked before the file is put in place, and in the transaction.
                if askedCount.add(1, ordering: .relaxed).newValue == 2 { noted() }
            })
        let done = Waiting<Result<AssetReceipt, any Error>>()
        receive.run(
            HookedUpload(upload) { try placed(files.storage, digest) }, identity: [1]
        ) { done.arrive($0) }
        return try done.wait().get()
    }

    @Test(
        "One that took longer than any removal lasts is taken, if its file is there",
        arguments: [0, 6, 600])
    func transfer(minutes: Int) throws {
        let receipt = try upload { [time] _, _ in
            time.pass(minutes: minutes)
        } noted: { [time] in
            time.pass(minutes: 4)
        }
        #expect(try server.store().read { try $0.assetReceipts([receipt.id]) }[0] != nil)
        #expect(try server.assetStore().storage.open(receipt.content.digest) != nil)
    }

    @Test("One whose file has gone since is to be sent again, and is not noted")
    func gone() throws {
        #expect(throws: StorageFailure.unavailable(.busy)) {
            _ = try upload { [time] storage, digest in
                time.pass(minutes: 30)
                try storage.delete(digest)
            }
        }
        #expect(try server.problems() == [])
    }

    @Test(
        "One that waits for its note until the store forgets removals is to be sent again",
        arguments: [0, 30])
    func note(minutes: Int) throws {
        #expect(throws: StorageFailure.unavailable(.busy)) {
            _ = try upload { [time] _, _ in
                time.pass(minutes: minutes)
            } noted: { [time] in
                time.pass(minutes: 5)
            }
        }
    }
}
