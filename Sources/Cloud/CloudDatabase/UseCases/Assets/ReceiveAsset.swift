import AssetStorage
import CloudModel
import Cryptography
import Storage

/// Stores one asset whose bytes have arrived (web-services.md §4.13).
///
/// First the file is put in place and on disk, then the store notes it, then the client gets an answer. An
/// error or a crash in between leaves a file that nothing refers to; the collection of assets removes it. Where another
/// process removes an equal file at the time, the client is told to upload once more.
///
/// The store can tell of such a removal for some time only (`AssetRemoval.secondsMax`). So a file that took long to get
/// into place, as a large one into a bucket, is looked for once it is there, and the time counts from then on.
package struct ReceiveAsset: Sendable {
    /// A file that took longer to get into place is looked for; a small part of the time in which it is to be noted.
    private static let secondsUnseenMax = AssetRemoval.secondsMax / 10

    private let storage: any Store
    private let assetStore: AssetStore
    private let tokens: AssetTokens
    private let random: RandomSource
    private let now: @Sendable () -> ContinuousClock.Instant
    private let requireUploader: @Sendable () throws -> Void

    /// - Parameters:
    ///   - now: a clock that goes on while the machine is suspended: another process may remove files meanwhile.
    ///   - requireUploader: throws once the uploader's credential or account is gone. It is asked
    ///     again in the transaction that notes the file: a person's erasure, which follows in a later
    ///     transaction, so finds whatever their uploads have left.
    package init(
        _ storage: any Store, assetStore: AssetStore, tokens: AssetTokens, random: RandomSource,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        requireUploader: @escaping @Sendable () throws -> Void
    ) {
        self.storage = storage
        self.assetStore = assetStore
        self.tokens = tokens
        self.random = random
        self.now = now
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
            let moment: ContinuousClock.Instant
            do { moment = try place(handed.upload, content.digest) } catch {
                handed.upload.discard()
                assetStore.claims.release(content.digest)
                return completion(.failure(error))
            }
            note(content, identity, inPlaceAfter: moment) { result in
                assetStore.claims.release(content.digest)
                completion(result)
            }
        }
    }

    /// Puts a file in place.
    ///
    /// - Returns: a moment after which the file was there, so that only a removal that goes on after it can have taken it.
    /// - Throws: what the upload throws; `StorageFailure.unavailable(.busy)` for a file that has gone again.
    private func place(
        _ upload: any AssetUpload, _ digest: AssetDigest
    ) throws -> ContinuousClock.Instant {
        let start = now()
        try upload.place()
        let end = now()
        guard start.duration(to: end) > .seconds(Self.secondsUnseenMax) else { return start }
        guard try assetStore.storage.open(digest) != nil else {
            throw StorageFailure.unavailable(.busy)
        }
        return end
    }

    private func note(
        _ content: AssetContent, _ identity: [UInt8], inPlaceAfter moment: ContinuousClock.Instant,
        completion: @escaping @Sendable (Result<AssetReceipt, any Error>) -> Void
    ) {
        let life = Milliseconds(tokens.lives.receipt) * 1_000
        storage.write(WriteLoad(caller: StoreCaller(identity: identity))) {
            [random, now, requireUploader, assetStore] transaction in
            try requireUploader()
            guard moment.duration(to: now()) < .seconds(AssetRemoval.secondsMax / 2) else {
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
