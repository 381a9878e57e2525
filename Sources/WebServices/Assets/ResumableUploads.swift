import CloudModel
import Synchronization

/// The uploads that clients can go on with, by the tokens of their URLs.
///
/// They last as long as the process, at most.
final class ResumableUploads: Sendable {
    private struct Entry {
        let upload: ResumableUpload
        var expires: Milliseconds
    }

    private let countMax: Int
    private let lifeMilliseconds: Milliseconds
    private let entries = Mutex<[String: Entry]>([:])

    /// - Parameters:
    ///   - countMax: of uploads at a time.
    ///   - idleSeconds: how long one stays that nobody asks for.
    init(countMax: Int, idleSeconds: Int) {
        self.countMax = countMax
        lifeMilliseconds = Milliseconds(idleSeconds) * 1_000
    }

    /// The upload of a token, whose time then begins anew; and when that ends.
    func find(
        _ token: String, now: Milliseconds
    ) -> (upload: ResumableUpload, expires: Milliseconds)? {
        entries.withLock { entries in
            guard let entry = entries[token], entry.expires > now else { return nil }
            let expires = now + lifeMilliseconds
            entries[token]?.expires = expires
            return (entry.upload, expires)
        }
    }

    /// Makes sure that another one has room.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER.
    func checkRoom() throws(Fault) {
        guard entries.withLock({ $0.count }) < countMax else {
            throw .tryAgainLater("too many uploads are under way", seconds: 30)
        }
    }

    /// Takes one up, in the place of the token's former one.
    ///
    /// - Returns: when it expires.
    func add(_ upload: ResumableUpload, _ token: String, now: Milliseconds) -> Milliseconds {
        let expires = now + lifeMilliseconds
        let former = entries.withLock { entries in
            let former = entries[token]?.upload
            entries[token] = Entry(upload: upload, expires: expires)
            return former
        }
        discard(former)
        return expires
    }

    /// Ends one, and leaves nothing of it.
    ///
    /// - Returns: whether there was one.
    func remove(_ token: String) -> Bool {
        let former = entries.withLock { $0.removeValue(forKey: token)?.upload }
        discard(former)
        return former != nil
    }

    /// Ends all whose time is over.
    func removeExpired(now: Milliseconds) {
        let expired = entries.withLock { entries in
            let expired = entries.filter { $0.value.expires <= now }
            for token in expired.keys { entries[token] = nil }
            return expired.values.map(\.upload)
        }
        for upload in expired { discard(upload) }
    }

    private func discard(_ upload: ResumableUpload?) {
        upload?.queue.async { upload?.discard() }
    }
}
