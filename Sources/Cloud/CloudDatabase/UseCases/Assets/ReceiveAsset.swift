import AssetStorage
import CloudModel
import Cryptography
import Storage

/// Stores one asset whose bytes have arrived (web-services.md §4.13).
///
/// First the file is put in place and on disk, then the store notes it, then the client gets an answer. An
/// error or a crash in between leaves a file that nothing refers to; the collection of assets removes it.
package struct ReceiveAsset: Sendable {
    private let storage: any Store
    private let assetStore: AssetStore
    private let tokens: AssetTokens
    private let random: RandomSource

    package init(
        _ storage: any Store, assetStore: AssetStore, tokens: AssetTokens, random: RandomSource
    ) {
        self.storage = storage
        self.assetStore = assetStore
        self.tokens = tokens
        self.random = random
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
        do { content = try upload.seal() } catch {
            upload.discard()
            return completion(.failure(error))
        }
        // Goes to the thread on which the claim is granted; one thread at a time uses it.
        let handed = HandedUpload(upload)
        assetStore.claims.hold(content.digest) {
            do { try handed.upload.place() } catch {
                handed.upload.discard()
                assetStore.claims.release(content.digest)
                return completion(.failure(error))
            }
            note(content, identity) { result in
                assetStore.claims.release(content.digest)
                completion(result)
            }
        }
    }

    private func note(
        _ content: AssetContent, _ identity: [UInt8],
        completion: @escaping @Sendable (Result<AssetReceipt, any Error>) -> Void
    ) {
        let receipt = AssetReceipt(id: random.bytes(AssetReceipt.idBytes), content: content)
        let life = Milliseconds(tokens.lives.receipt) * 1_000
        storage.write(WriteLoad(caller: WriteCaller(identity: identity))) { transaction in
            try transaction.addReceipt(
                receipt.id,
                StoredReceipt(
                    content: content, identity: identity, expires: transaction.now + life))
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
