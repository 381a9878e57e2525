import CloudModel
import Synchronization

/// The uploads that clients can go on with, by the tokens of their URLs.
///
/// An upload that an earlier process began is added when somebody first asks for it.
final class ResumableUploads: Sendable {
    private struct Entry {
        let upload: ResumableUpload
        var expires: Milliseconds
    }

    /// How many uploads are open, in all and for each uploader.
    private struct Open {
        var count = 0
        var byUploader: [[UInt8]: Int] = [:]
    }

    /// How many entries there may be, including complete uploads that are still remembered.
    private static let entriesMax = 65_536

    private let openMax: Int
    private let open = Mutex(Open())
    private let lifeMilliseconds: Milliseconds
    private let entries = Mutex<[String: Entry]>([:])

    /// - Parameters:
    ///   - openMax: how many incomplete uploads there may be at a time.
    ///   - idleSeconds: how long an upload stays when nobody asks for it.
    init(openMax: Int, idleSeconds: Int) {
        self.openMax = openMax
        lifeMilliseconds = Milliseconds(idleSeconds) * 1_000
    }

    /// Finds the upload of a token, renews its time, and returns when that ends; nil when it is not known
    /// here.
    ///
    /// - Throws: `Fault` NOT_FOUND for an upload whose time is over.
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

    /// Counts one more open upload, until `release`.
    ///
    /// One uploader may have half of all open uploads; the other half stays for others.
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

    /// Counts one open upload less.
    func release(of uploader: [UInt8]) {
        open.withLock { open in
            open.count -= 1
            let rest = open.byUploader[uploader, default: 0] - 1
            assert(open.count >= 0 && rest >= 0, "an upload that ends has been counted, once")
            open.byUploader[uploader] = rest > 0 ? rest : nil
        }
    }

    /// Adds an upload, in place of the token's former one.
    func add(_ upload: ResumableUpload, _ token: String, now: Milliseconds) {
        let expires = now + lifeMilliseconds
        let previous = entries.withLock { entries in
            let previous = entries[token]?.upload
            entries[token] = Entry(upload: upload, expires: expires)
            return previous
        }
        previous?.queue.async { previous?.giveWay() }
    }

    /// Adds an upload that an earlier process began, unless another request has just done so.
    ///
    /// - Parameter make: called when it is needed, after room for the upload was counted.
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

    /// Ends an upload, removes all traces of it, and then forgets it.
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

    /// Ends all uploads whose time is over.
    func removeExpired(now: Milliseconds) {
        let expired = entries.withLock { $0.filter { $0.value.expires <= now } }
        for (token, entry) in expired { end(entry.upload, token) }
    }
}
