import AssetStorage
import CloudModel
import Cryptography
import Storage

/// Stores one asset whose bytes have arrived (web-services.md §4.13).
///
/// First the file is put in place and on disk, then the store notes it, then the client gets an answer. An
/// error or a crash in between leaves a file that nothing refers to; the collection of assets removes it. Where another
/// process removes an equal file at the time, the client is told to upload once more.
package struct ReceiveAsset: Sendable {
    private let storage: any Store
    private let assetStore: AssetStore
    private let tokens: AssetTokens
    private let random: RandomSource
    private let requireUploader: @Sendable () throws -> Void

    /// - Parameter requireUploader: throws once the uploader's credential or account is gone. It is asked
    ///   again in the transaction that notes the file: a person's erasure, which follows in a later
    ///   transaction, so finds whatever their uploads have left.
    package init(
        _ storage: any Store, assetStore: AssetStore, tokens: AssetTokens, random: RandomSource,
        requireUploader: @escaping @Sendable () throws -> Void
    ) {
        self.storage = storage
        self.assetStore = assetStore
        self.tokens = tokens
        self.random = random
        self.requireUploader = requireUploader
    }

    /// Ends an upload.
    ///
    /// Blocks while the file goes to disk; the rest may happen on other threads.
    ///
    /// - Parameters:
    ///   - upload: all of the bytes; nobody else uses it any more.
    ///   - identity: who may use the receipt.
    package func run(
        _ upload: any AssetUpload, identity: [UInt8],
        completion: @escaping @Sendable (Result<AssetReceipt, any Error>) -> Void
    ) {
        let content: AssetContent
        do {
            try requireUploader()
            content = try upload.seal()
        } catch {
            upload.discard()
            return completion(.failure(error))
        }
        // Goes to the thread on which the claim is granted; one thread at a time uses it.
        let handed = HandedUpload(upload)
        assetStore.claims.hold(content.digest) {
            let start = ContinuousClock.now
            do { try handed.upload.place() } catch {
                handed.upload.discard()
                assetStore.claims.release(content.digest)
                return completion(.failure(error))
            }
            note(content, identity, placedAfter: start) { result in
                assetStore.claims.release(content.digest)
                completion(result)
            }
        }
    }

    private func note(
        _ content: AssetContent, _ identity: [UInt8], placedAfter start: ContinuousClock.Instant,
        completion: @escaping @Sendable (Result<AssetReceipt, any Error>) -> Void
    ) {
        let life = Milliseconds(tokens.lives.receipt) * 1_000
        storage.write(WriteLoad(caller: StoreCaller(identity: identity))) {
            [random, requireUploader, assetStore] transaction in
            try requireUploader()
            guard start.duration(to: .now) < .seconds(AssetRemoval.secondsMax / 2) else {
                throw StorageFailure.unavailable(.busy)
            }
            let receipt = AssetReceipt(
                id: ReceiptID.make(at: transaction.now, random), content: content)
            let stored = StoredReceipt(
                content: content, identity: identity, expires: transaction.now + life)
            let isNoted = try transaction.addReceipt(
                receipt.id, stored,
                of: .placed { try assetStore.storage.open(content.digest) != nil })
            guard isNoted else { throw BrokenInvariant("an upload is noted once it is in place") }
            return receipt
        } completion: {
            completion($0)
        }
    }
}

/// An upload on its way to another thread.
private struct HandedUpload: @unchecked Sendable {
    // Unchecked: its giver does not touch it again.
    let upload: any AssetUpload

    init(_ upload: any AssetUpload) { self.upload = upload }
}
