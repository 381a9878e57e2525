import Cryptography
import HTTPClient
import Synchronization

/// What a data folder notes of its turns at a bucket: a copy of the folder that somebody made by its files goes by the same
/// name, and only the turn tells the two apart.
package struct S3TurnNote: Sendable {
    /// The turn that the folder had last, and perhaps one that it was about to take.
    let read: @Sendable () throws(AssetFailure) -> [String]
    /// Keeps them for good.
    let write: @Sendable ([String]) throws(AssetFailure) -> Void
    /// Makes a name that nobody has had.
    let next: @Sendable () -> String
    /// By a clock that goes on while the machine is suspended: somebody else may take the prefix over meanwhile.
    let now: @Sendable () -> ContinuousClock.Instant

    package init(
        read: @escaping @Sendable () throws(AssetFailure) -> [String],
        write: @escaping @Sendable ([String]) throws(AssetFailure) -> Void,
        next: @escaping @Sendable () -> String,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.read, self.write, self.next, self.now) = (read, write, next, now)
    }
}

/// Makes sure that no two data folders keep their assets below one prefix of a bucket.
///
/// Each would remove the files of the other.
///
/// An object below the prefix names the data folder to which the prefix belongs. The first folder
/// that comes makes it, and it stays. The server looks at it before it writes or removes anything, at most once a
/// minute. With each start it also writes its turn there: so a copy of the folder takes the prefix over or is refused.
package final class S3Ownership: Sendable {
    private static let objectName = "lenticular-owner"
    private static let trustedFor = Duration.seconds(60)

    /// What is known of the object.
    private struct State {
        /// What `owner` has said.
        var own: String?
        /// What this process has written there or found.
        var text: String?
        var lookedAt: ContinuousClock.Instant?
    }

    private let bucket: S3Bucket
    private let key: String
    private let owner: @Sendable () throws(AssetFailure) -> String
    private let turns: S3TurnNote?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - prefix: of all assets of a server.
    ///   - turns: nil where nobody makes copies of a folder.
    ///   - owner: names the data folder, always in the same way; asked once.
    package init(
        _ bucket: S3Bucket, prefix: String, turns: S3TurnNote? = nil,
        owner: @escaping @Sendable () throws(AssetFailure) -> String
    ) {
        self.bucket = bucket
        key = prefix + Self.objectName
        self.turns = turns
        self.owner = owner
    }

    /// Checks that the prefix is ours, and takes it when it has no owner.
    ///
    /// - Throws: `AssetFailure.ownedByAnother`, and what the store reports.
    package func confirm() throws(AssetFailure) {
        try state.withLock { state throws(AssetFailure) in
            if let text = state.text {
                guard let turns, let lookedAt = state.lookedAt,
                    turns.now() - lookedAt >= Self.trustedFor
                else { return }
                guard try bucket.text(of: key) == text else { throw .ownedByAnother(object: key) }
                state.lookedAt = turns.now()
                return
            }
            let own = try named(&state)
            var found = try bucket.text(of: key)
            if found == nil {
                try bucket.putFirst(key, own)
                // Another server may have come at the same moment.
                found = try bucket.text(of: key)
            }
            let words = (found ?? "").split(separator: " ").map(String.init)
            guard words.first == own else { throw .ownedByAnother(object: key) }
            guard let turns else {
                state.text = own
                return
            }
            state.lookedAt = turns.now()
            state.text = try take(turns, own, words.dropFirst().first)
        }
    }

    /// The data folder's name, asked for once.
    private func named(_ state: inout State) throws(AssetFailure) -> String {
        if let own = state.own { return own }
        let own = try owner()
        state.own = own
        return own
    }

    /// Writes this start's turn, unless a copy of the folder has written one since this folder did.
    private func take(
        _ turns: S3TurnNote, _ own: String, _ found: String?
    ) throws(AssetFailure) -> String {
        if let found {
            let noted = try turns.read()
            guard noted.contains(found) else { throw .ownedByAnother(object: key) }
        }
        let next = turns.next()
        // Both until the next one stands: a start that ends in between is no other folder's.
        try turns.write([found, next].compactMap { $0 })
        let text = "\(own) \(next)"
        try bucket.put(key, text)
        try turns.write([next])
        return text
    }
}

// The object that names an owner.
extension S3Bucket {
    private static let textBytesMax = 256

    /// The contents of a short object; nil when there is none.
    fileprivate func text(of key: String) throws(AssetFailure) -> String? {
        try perform("S3 GET", Request(method: "GET", key: key), refused: [404: nil]) {
            response throws(ClientFailure) -> String? in
            let bytes = try response.readAll(bytesMax: Self.textBytesMax)
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Stores a short object in the place of what there is.
    fileprivate func put(_ key: String, _ text: String) throws(AssetFailure) {
        let bytes = Array(text.utf8)
        try expectSuccess(
            "S3 PUT",
            Request(
                method: "PUT", key: key, headers: [("content-type", "text/plain")],
                body: .bytes(bytes), payload: SHA256.digest(bytes)))
    }

    /// Stores a short object unless there is one, as far as the store can tell.
    fileprivate func putFirst(_ key: String, _ text: String) throws(AssetFailure) {
        let what = "S3 PUT"
        let bytes = Array(text.utf8)
        var request = Request(
            method: "PUT", key: key,
            headers: [("content-type", "text/plain"), ("if-none-match", "*")],
            body: .bytes(bytes), payload: SHA256.digest(bytes))
        // A store that does not know the condition refuses it by 400 or 501.
        let isSettled = try perform(
            what, request, refused: [409: true, 412: true, 400: false, 501: false]
        ) { response throws(ClientFailure) -> Bool in
            _ = try response.readAll(bytesMax: 65_536)
            return true
        }
        if isSettled { return }
        request.headers.removeLast()
        try expectSuccess(what, request)
    }
}
