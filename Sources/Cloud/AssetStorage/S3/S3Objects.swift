import CloudModel
import HTTPClient

/// An object as the store tells of it.
struct S3ObjectState: Sendable, Equatable {
    let byteCount: Int
    /// Changes with the bytes.
    let tag: String?
}

/// An object of a listing.
package struct S3ListedObject: Sendable, Equatable {
    package let key: String
    package let byteCount: Int
    let modified: Milliseconds
}

// Requests about one object.
extension S3Bucket {
    /// Nil when there is no such object.
    func state(of key: String) throws(AssetFailure) -> S3ObjectState? {
        try perform("S3 HEAD", Request(method: "HEAD", key: key), refused: [404: nil]) {
            response throws(ClientFailure) -> S3ObjectState? in
            _ = try response.readAll(bytesMax: 0)
            guard let count = response.contentLength else {
                throw .malformed("no Content-Length")
            }
            return S3ObjectState(byteCount: count, tag: response.header("etag"))
        }
    }

    /// Stores an object in one request; it is durable when this returns.
    func put(
        _ key: String, _ body: ClientBody, payload: [UInt8]
    ) throws(AssetFailure) {
        try expectSuccess(
            "S3 PUT",
            Request(
                method: "PUT", key: key,
                headers: [("content-type", "application/octet-stream")], body: body,
                payload: payload))
    }

    /// Removes an object, if it is there.
    func delete(_ key: String) throws(AssetFailure) {
        try expectSuccess("S3 DELETE", Request(method: "DELETE", key: key), orStatus: 404)
    }

    /// Begins to read a stretch of an object.
    ///
    /// - Parameter tag: of the bytes that are wanted and no others.
    /// - Returns: nil when the object has gone or changed.
    func read(
        _ key: String, _ range: Range<Int>, tag: String?
    ) throws(AssetFailure) -> ClientResponse? {
        var request = Request(
            method: "GET", key: key,
            headers: [("range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")])
        if let tag { request.headers.append(("if-match", tag)) }
        return try perform("S3 GET", request, refused: [404: nil, 412: nil]) {
            response throws(ClientFailure) -> ClientResponse? in
            // A server that does not know ranges sends all of it.
            let isStretch =
                response.status == 206
                && response.header("content-range")?.hasPrefix(
                    "bytes \(range.lowerBound)-\(range.upperBound - 1)/") == true
            guard isStretch else { throw .malformed("not the range that was asked for") }
            return response
        }
    }

    func expectSuccess(
        _ what: String, _ request: Request, orStatus other: Int? = nil
    ) throws(AssetFailure) {
        _ = try document(what, request, orStatus: other)
    }

    /// Makes a request whose answer is short; its body.
    ///
    /// - Parameter other: a status that is as good as success.
    func document(
        _ what: String, _ request: Request, orStatus other: Int? = nil
    ) throws(AssetFailure) -> [UInt8] {
        try perform(what, request, refused: other.map { [$0: []] } ?? [:]) {
            response throws(ClientFailure) -> [UInt8] in
            try response.readAll(bytesMax: Self.documentBytesMax)
        }
    }

    /// A listing of a thousand long names takes less.
    private static let documentBytesMax = 4_194_304
}

// Listings.
extension S3Bucket {
    /// Objects in the order of their keys.
    ///
    /// - Parameters:
    ///   - prefix: how their keys begin.
    ///   - after: the key that they follow; empty for the first.
    /// - Returns: fewer than `limit` only at the end.
    func list(
        prefix: String, after: String, limit: Int
    ) throws(AssetFailure) -> [S3ListedObject] {
        var found: [S3ListedObject] = []
        var last = after
        while found.count < limit {
            var query = [
                (name: "list-type", value: "2"), (name: "prefix", value: prefix),
                (name: "max-keys", value: "\(min(limit - found.count, 1_000))"),
            ]
            if !last.isEmpty { query.append((name: "start-after", value: last)) }
            let body = try document("S3 LIST", Request(method: "GET", query: query))
            guard let root = S3Document(body)?.root, root.name == "ListBucketResult" else {
                throw .unavailable(call: "S3 LIST", reason: "the answer is no listing")
            }
            let rows = root.all("Contents")
            let page = rows.compactMap(Self.object)
            // One left out would count as missing.
            guard page.count == rows.count else {
                throw .unavailable(call: "S3 LIST", reason: "the listing has a malformed row")
            }
            for object in page where object.key > last && object.key.hasPrefix(prefix) {
                found.append(object)
                last = object.key
            }
            guard root["IsTruncated"] == "true", let end = page.last?.key, end == last else {
                break
            }
        }
        return found
    }

    private static func object(_ element: S3Document.Element) -> S3ListedObject? {
        guard let key = element["Key"], let size = element["Size"].flatMap({ Int($0) }), size >= 0,
            let modified = element["LastModified"].flatMap(S3Time.moment)
        else { return nil }
        return S3ListedObject(key: key, byteCount: size, modified: modified)
    }
}
