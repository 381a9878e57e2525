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

    /// Of all, those that are whole and wait to be forgotten too.
    private static let entriesMax = 65_536

    private let openMax: Int
    private let openCount = Mutex(0)
    private let lifeMilliseconds: Milliseconds
    private let entries = Mutex<[String: Entry]>([:])

    /// - Parameters:
    ///   - openMax: of uploads at a time that bytes are missing of.
    ///   - idleSeconds: how long one stays that nobody asks for.
    init(openMax: Int, idleSeconds: Int) {
        self.openMax = openMax
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

    /// Counts another one that is open, until `release`.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER.
    func reserve() throws(Fault) {
        let hasRoom = entries.withLock { $0.count } < Self.entriesMax
        let isCounted = openCount.withLock { count in
            guard hasRoom, count < openMax else { return false }
            count += 1
            return true
        }
        guard isCounted else {
            throw .tryAgainLater("too many uploads are under way", seconds: 30)
        }
    }

    /// One that was open is not any more.
    func release() { openCount.withLock { $0 -= 1 } }

    /// Takes one up, in the place of the token's former one.
    func add(_ upload: ResumableUpload, _ token: String, now: Milliseconds) {
        let expires = now + lifeMilliseconds
        let former = entries.withLock { entries in
            let former = entries[token]?.upload
            entries[token] = Entry(upload: upload, expires: expires)
            return former
        }
        discard(former)
    }

    /// Forgets one, which the caller is to discard; nil when there is none.
    func remove(_ token: String) -> ResumableUpload? {
        entries.withLock { $0.removeValue(forKey: token)?.upload }
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
