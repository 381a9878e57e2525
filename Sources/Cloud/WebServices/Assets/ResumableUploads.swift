import CloudModel
import Synchronization

/// The uploads that clients can go on with, by the tokens of their URLs.
///
/// Those that an earlier process has begun are not among them until somebody asks for them.
final class ResumableUploads: Sendable {
    private struct Entry {
        let upload: ResumableUpload
        var expires: Milliseconds
    }

    /// How many are open, of all and of each uploader.
    private struct Open {
        var count = 0
        var byUploader: [[UInt8]: Int] = [:]
    }

    /// Of all, those that are whole and wait to be forgotten too.
    private static let entriesMax = 65_536

    private let openMax: Int
    private let open = Mutex(Open())
    private let lifeMilliseconds: Milliseconds
    private let entries = Mutex<[String: Entry]>([:])

    /// - Parameters:
    ///   - openMax: of uploads at a time that bytes are missing of.
    ///   - idleSeconds: how long one stays that nobody asks for.
    init(openMax: Int, idleSeconds: Int) {
        self.openMax = openMax
        lifeMilliseconds = Milliseconds(idleSeconds) * 1_000
    }

    /// The upload of a token, whose time then begins anew, and when that ends; nil when it is not known
    /// here.
    ///
    /// - Throws: `Fault` NOT_FOUND for one whose time is over.
    func find(
        _ token: String, now: Milliseconds
    ) throws(Fault) -> (upload: ResumableUpload, expires: Milliseconds)? {
        let found = entries.withLock { entries -> (upload: ResumableUpload, isOver: Bool)? in
            guard let entry = entries[token] else { return nil }
            guard entry.expires > now else { return (entry.upload, true) }
            entries[token]?.expires = now + lifeMilliseconds
            return (entry.upload, false)
        }
        guard let found else { return nil }
        if found.isOver { throw ResumableUpload.gone }
        return (found.upload, now + lifeMilliseconds)
    }

    /// Counts another one that is open, until `release`.
    ///
    /// One uploader has half of what there may be, and leaves the other half to others.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER.
    func reserve(for uploader: [UInt8]) throws(Fault) {
        let hasRoom = entries.withLock { $0.count } < Self.entriesMax
        let isCounted = open.withLock { open in
            let own = open.byUploader[uploader] ?? 0
            guard hasRoom, open.count < openMax, own < (openMax + 1) / 2 else { return false }
            open.count += 1
            open.byUploader[uploader] = own + 1
            return true
        }
        guard isCounted else {
            throw .tryAgainLater("too many uploads are under way", seconds: 30)
        }
    }

    /// One that was open is not any more.
    func release(of uploader: [UInt8]) {
        open.withLock { open in
            open.count -= 1
            let rest = (open.byUploader[uploader] ?? 1) - 1
            open.byUploader[uploader] = rest > 0 ? rest : nil
        }
    }

    /// Takes one up, in the place of the token's former one.
    func add(_ upload: ResumableUpload, _ token: String, now: Milliseconds) {
        let expires = now + lifeMilliseconds
        let former = entries.withLock { entries in
            let former = entries[token]?.upload
            entries[token] = Entry(upload: upload, expires: expires)
            return former
        }
        former?.queue.async { former?.giveWay() }
    }

    /// Takes up one that an earlier process has begun, unless another request has just done so.
    ///
    /// - Parameter make: called when it is wanted, after room for it was counted.
    /// - Throws: `Fault` TRY_AGAIN_LATER.
    func findOrAdd(
        _ token: String, of uploader: [UInt8], now: Milliseconds, _ make: () -> ResumableUpload
    ) throws(Fault) -> (upload: ResumableUpload, expires: Milliseconds) {
        try reserve(for: uploader)
        let expires = now + lifeMilliseconds
        let (upload, isNew) = entries.withLock { entries in
            if let known = entries[token]?.upload {
                entries[token]?.expires = expires
                return (known, false)
            }
            let upload = make()
            entries[token] = Entry(upload: upload, expires: expires)
            return (upload, true)
        }
        if !isNew { release(of: uploader) }
        return (upload, expires)
    }

    /// Ends one, and leaves nothing of it; then it is forgotten.
    ///
    /// - Parameter completion: called on the upload's queue.
    func end(
        _ upload: ResumableUpload, _ token: String,
        completion: @escaping @Sendable () -> Void = {}
    ) {
        upload.queue.async { [self] in
            upload.discard()
            entries.withLock { entries in
                if entries[token]?.upload === upload { entries[token] = nil }
            }
            completion()
        }
    }

    /// Ends all whose time is over.
    func removeExpired(now: Milliseconds) {
        let expired = entries.withLock { $0.filter { $0.value.expires <= now } }
        for (token, entry) in expired { end(entry.upload, token) }
    }
}
