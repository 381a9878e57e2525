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
        query.map { (encode($0.name), encode($0.value)) }
            .sorted { $0.0 == $1.0 ? $0.1 < $1.1 : $0.0 < $1.0 }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    /// Percent-encodes all but letters, digits and `-._~`.
    static func encode(_ text: some StringProtocol, keepingSlashes: Bool = false) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                encoded.append(byte)
            case 0x2F where keepingSlashes: encoded.append(byte)
            default:
                encoded.append(0x25)
                encoded += Hexadecimal.encode([byte]).uppercased().utf8
            }
        }
        return String(decoding: encoded, as: UTF8.self)
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
        let seconds = moment >= 0 ? moment / 1_000 : 0
        let (day, rest) = (seconds / 86_400, seconds % 86_400)
        let (year, month, date) = civil(day)
        return padded(year, 4) + padded(month, 2) + padded(date, 2) + "T"
            + padded(rest / 3_600, 2) + padded(rest / 60 % 60, 2) + padded(rest % 60, 2) + "Z"
    }

    /// Reads `2013-05-24T00:00:00.000Z`, the fraction missing or of any length; nil for anything else.
    static func moment(_ text: String) -> Milliseconds? {
        let bytes = Array(text.utf8)
        guard (20...40).contains(bytes.count), bytes.last == UInt8(ascii: "Z"), bytes[4] == 0x2D,
            bytes[7] == 0x2D, bytes[10] == UInt8(ascii: "T"), bytes[13] == 0x3A,
            bytes[16] == 0x3A, bytes[19] == UInt8(ascii: "Z") || bytes[19] == UInt8(ascii: "."),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
            let date = number(bytes[8..<10]), let hour = number(bytes[11..<13]),
            let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
            (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(date),
            hour < 24, minute < 60, second < 61
        else { return nil }
        let seconds = days(year, month, date) * 86_400 + hour * 3_600 + minute * 60 + second
        return seconds * 1_000
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard 0x30...0x39 ~= digit else { return nil }
            number = number * 10 + Int64(digit - 0x30)
        }
        return number
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    // Both count years from March on, so that the leap day is the last of one.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, date: Int64) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let ofEra = shifted % 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * ofYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * part + 2) / 5 + 1
        )
    }

    private static func days(_ year: Int64, _ month: Int64, _ date: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = (shifted / 400, shifted % 400)
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + date - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear - 719_468
    }
}
