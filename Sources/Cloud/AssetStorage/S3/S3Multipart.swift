import CloudModel
import Cryptography
import HTTPClient

/// An upload by parts that was begun and not ended.
struct S3UnfinishedUpload: Sendable, Equatable {
    let key: String
    let id: String
    let begun: Milliseconds
}

// Uploads by parts.
extension S3Bucket {
    /// S3 takes no more parts than these for an object.
    private static let partsMax = 10_000

    /// Stores an object by parts; it is durable and whole when this returns, else not there at all.
    func putInParts(
        _ key: String, byteCount: Int,
        read: @escaping (_ offset: Int, _ count: Int) throws(AssetFailure) -> [UInt8]
    ) throws(AssetFailure) {
        let id = try beginUpload(key)
        do throws(AssetFailure) {
            let size = max(options.partBytes, (byteCount + Self.partsMax - 1) / Self.partsMax)
            var tags: [String] = []
            for start in stride(from: 0, to: byteCount, by: size) {
                let count = min(size, byteCount - start)
                let body = ClientBody(byteCount: count) { try read(start + $0, $1) }
                tags.append(
                    try putPart(
                        key, id, number: tags.count + 1, body,
                        payload: try Self.digest(start, count, read)))
            }
            try complete(key, id, tags: tags, byteCount: byteCount)
        } catch {
            // NB: the first failure is the one to report; what stays is removed by the upkeep.
            try? abort(key, id)
            throw error
        }
    }

    /// The SHA-256 of a stretch, which is signed before the stretch is sent.
    static func digest(
        _ start: Int, _ count: Int,
        _ read: (_ offset: Int, _ count: Int) throws(AssetFailure) -> [UInt8]
    ) throws(AssetFailure) -> [UInt8] {
        var hash = SHA256()
        var done = 0
        while done < count {
            let piece = try read(start + done, min(262_144, count - done))
            guard !piece.isEmpty else {
                throw .system(call: "pread", reason: "the file became shorter")
            }
            hash.update(piece)
            done += piece.count
        }
        return hash.digest()
    }

    private func beginUpload(_ key: String) throws(AssetFailure) -> String {
        let body = try document(
            "S3 POST uploads",
            Request(
                method: "POST", key: key, query: [("uploads", "")],
                headers: [("content-type", "application/octet-stream")]))
        guard let id = S3Document(body)?.root["UploadId"], !id.isEmpty else {
            throw .unavailable(call: "S3 POST uploads", reason: "the answer has no upload's id")
        }
        return id
    }

    private func putPart(
        _ key: String, _ id: String, number: Int, _ body: ClientBody, payload: [UInt8]
    ) throws(AssetFailure) -> String {
        let request = Request(
            method: "PUT", key: key, query: [("partNumber", "\(number)"), ("uploadId", id)],
            body: body, payload: payload)
        return try perform("S3 PUT part", request) { response throws(ClientFailure) -> String in
            _ = try response.readAll(bytesMax: 65_536)
            guard let tag = response.header("etag") else { throw .malformed("no ETag") }
            return tag
        }
    }

    private func complete(
        _ key: String, _ id: String, tags: [String], byteCount: Int
    ) throws(AssetFailure) {
        var text = "<CompleteMultipartUpload>"
        for (index, tag) in tags.enumerated() {
            let escaped = tag.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            text += "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(escaped)</ETag></Part>"
        }
        text += "</CompleteMultipartUpload>"
        let bytes = Array(text.utf8)
        let request = Request(
            method: "POST", key: key, query: [("uploadId", id)],
            headers: [("content-type", "application/xml")], body: .bytes(bytes),
            payload: SHA256.digest(bytes))
        do throws(AssetFailure) {
            try perform("S3 POST upload", request) { response throws(ClientFailure) in
                // The status comes before the work is done: only the body tells how it went.
                let body = try response.readAll(bytesMax: 65_536)
                let root = S3Document(body)?.root
                guard root?.name == "CompleteMultipartUploadResult" else {
                    throw .broken("200 \(Self.errorCode(body))")
                }
            }
        } catch {
            if case .unavailable = error { throw error }
            // An answer may have been lost of an attempt that succeeded.
            guard try state(of: key)?.byteCount == byteCount else { throw error }
        }
    }

    /// Makes the store forget an upload's parts.
    func abort(_ key: String, _ id: String) throws(AssetFailure) {
        try expectSuccess(
            "S3 DELETE upload",
            Request(method: "DELETE", key: key, query: [("uploadId", id)]), orStatus: 404)
    }

    /// Some of the uploads that were begun and not ended.
    func unfinishedUploads(prefix: String) throws(AssetFailure) -> [S3UnfinishedUpload] {
        let body = try document(
            "S3 GET uploads",
            Request(method: "GET", query: [("uploads", ""), ("prefix", prefix)]), orStatus: 501)
        // A store that cannot list them has rules of its own for what is left over.
        if body.isEmpty { return [] }
        guard let root = S3Document(body)?.root, root.name == "ListMultipartUploadsResult" else {
            throw .unavailable(call: "S3 GET uploads", reason: "the answer is no listing")
        }
        return root.all("Upload").compactMap { upload in
            guard let key = upload["Key"], key.hasPrefix(prefix), let id = upload["UploadId"],
                let begun = upload["Initiated"].flatMap(S3Time.moment)
            else { return nil }
            return S3UnfinishedUpload(key: key, id: id, begun: begun)
        }
    }
}
