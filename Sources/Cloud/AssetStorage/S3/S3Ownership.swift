import Cryptography
import HTTPClient
import Synchronization

/// Makes sure that no two data folders keep their assets below one prefix of a bucket.
///
/// Each would remove the files of the other.
///
/// An object below the prefix names the data folder to which the prefix belongs. The first folder
/// that comes makes it, and it stays. The server looks at it once before it writes or removes
/// anything.
package final class S3Ownership: Sendable {
    private static let objectName = "lenticular-owner"

    private let bucket: S3Bucket
    private let key: String
    private let owner: @Sendable () throws(AssetFailure) -> String
    /// What `owner` has said.
    private let own = Mutex<String?>(nil)
    private let isConfirmed = Atomic(false)

    /// - Parameters:
    ///   - prefix: of all assets of a server.
    ///   - owner: names the data folder, always in the same way; asked once.
    package init(
        _ bucket: S3Bucket, prefix: String,
        owner: @escaping @Sendable () throws(AssetFailure) -> String
    ) {
        self.bucket = bucket
        key = prefix + Self.objectName
        self.owner = owner
    }

    /// Checks that the prefix is ours, and takes it when it has no owner.
    ///
    /// - Throws: `AssetFailure.ownedByAnother`, and what the store reports.
    package func confirm() throws(AssetFailure) {
        if isConfirmed.load(ordering: .relaxed) { return }
        let own = try own.withLock { own throws(AssetFailure) -> String in
            if let own { return own }
            let name = try owner()
            own = name
            return name
        }
        var found = try bucket.text(of: key)
        if found == nil {
            try bucket.putFirst(key, own)
            // Another server may have come at the same moment.
            found = try bucket.text(of: key)
        }
        guard found == own else { throw .ownedByAnother(object: key) }
        isConfirmed.store(true, ordering: .relaxed)
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
