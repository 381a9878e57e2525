import Calendar
import CloudModel
import Cryptography

/// The keys of an account at a store; their text form shows the public part alone.
package struct S3Credentials: Sendable, CustomStringConvertible, CustomReflectable {
    package let accessKeyID: String
    let secretKey: [UInt8]

    package init(accessKeyID: String, secretKey: [UInt8]) {
        self.accessKeyID = accessKeyID
        self.secretKey = secretKey
    }

    package var description: String { accessKeyID }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Signs requests with AWS Signature Version 4 for the service `s3`.
package struct SignatureV4: Sendable {
    /// Stands in for the digest of a payload that is not signed: of presigned addresses.
    private static let unsigned = "UNSIGNED-PAYLOAD"
    private static let algorithm = "AWS4-HMAC-SHA256"
    /// An address lives for a week at most.
    package static let secondsMax: Int64 = 604_800

    private let credentials: S3Credentials
    private let region: String

    package init(_ credentials: S3Credentials, region: String) {
        self.credentials = credentials
        self.region = region
    }

    /// The fields that make a request a signed one.
    ///
    /// - Parameters:
    ///   - path: percent-encoded, as it goes out.
    ///   - query: names and values before they are encoded.
    ///   - headers: what goes out beside, with `host`; all of it is signed.
    ///   - payload: the SHA-256 of the body.
    package func fields(
        method: String, path: String, query: [(name: String, value: String)],
        headers: [(name: String, value: String)], payload: [UInt8], at moment: Milliseconds
    ) -> [(name: String, value: String)] {
        let stamp = S3Time.stamp(moment)
        let digest = Hexadecimal.encode(payload)
        let own = [("x-amz-content-sha256", digest), ("x-amz-date", stamp)]
        var signed = headers.map { ($0.name.lowercased(), $0.value) }
        signed += own
        signed.sort { $0.0 < $1.0 }
        let names = signed.map(\.0).joined(separator: ";")
        let canonical = Self.canonical(
            method: method, path: path, query: Self.canonicalQuery(query), signed, names: names,
            payload: digest)
        let signature = signature(of: canonical, stamp)
        let authorization =
            "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope(stamp)),"
            + "SignedHeaders=\(names),Signature=\(signature)"
        return own.map { (name: $0.0, value: $0.1) } + [("authorization", authorization)]
    }

    /// The query of an address that anybody may use for some time.
    package func presignedQuery(
        method: String, path: String, query: [(name: String, value: String)], host: String,
        seconds: Int64, at moment: Milliseconds
    ) -> String {
        let stamp = S3Time.stamp(moment)
        let all =
            query + [
                ("X-Amz-Algorithm", Self.algorithm),
                ("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope(stamp))"),
                ("X-Amz-Date", stamp),
                ("X-Amz-Expires", "\(min(max(seconds, 1), Self.secondsMax))"),
                ("X-Amz-SignedHeaders", "host"),
            ]
        let text = Self.canonicalQuery(all)
        let canonical = Self.canonical(
            method: method, path: path, query: text, [("host", host)], names: "host",
            payload: Self.unsigned)
        return "\(text)&X-Amz-Signature=\(signature(of: canonical, stamp))"
    }

    /// Names and values encoded and in order, as they are signed and sent.
    static func canonicalQuery(_ query: [(name: String, value: String)]) -> String {
        query.map { (PercentEncoding.encode($0.name), PercentEncoding.encode($0.value)) }
            .sorted { $0.0 == $1.0 ? $0.1 < $1.1 : $0.0 < $1.0 }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private static func canonical(
        method: String, path: String, query: String, _ headers: [(String, String)], names: String,
        payload: String
    ) -> String {
        let lines = headers.map { "\($0.0):\($0.1)\n" }.joined()
        return "\(method)\n\(path)\n\(query)\n\(lines)\n\(names)\n\(payload)"
    }

    private func scope(_ stamp: String) -> String { "\(stamp.prefix(8))/\(region)/s3/aws4_request" }

    private func signature(of canonical: String, _ stamp: String) -> String {
        let digest = Hexadecimal.encode(SHA256.digest(Array(canonical.utf8)))
        let text = "\(Self.algorithm)\n\(stamp)\n\(scope(stamp))\n\(digest)"
        var key = Array("AWS4".utf8) + credentials.secretKey
        for part in [String(stamp.prefix(8)), region, "s3", "aws4_request"] {
            key = HMACSHA256(key: key).code(for: Array(part.utf8))
        }
        return Hexadecimal.encode(HMACSHA256(key: key).code(for: Array(text.utf8)))
    }
}

/// Time as the protocol of S3 writes it, in UTC.
enum S3Time {
    /// `20130524T000000Z`.
    static func stamp(_ moment: Milliseconds) -> String {
        let time = CivilTime(seconds: moment >= 0 ? moment / 1_000 : 0)
        return "\(time.date(between: ""))T\(time.time(between: ""))Z"
    }

    /// Reads `2013-05-24T00:00:00.000Z`, the fraction missing or of any length; nil for anything else.
    static func moment(_ text: String) -> Milliseconds? {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, parts[1].last == "Z" else { return RequestDate.milliseconds(text) }
        return RequestDate.milliseconds("\(parts[0])Z")
    }
}
