import Cryptography
import Foundation
import HTTP

/// One request, taken apart and checked the way the store's manual says, not the way we sign.
struct S3StandInCall {
    let method: String
    let target: String
    let bucket: String
    let key: String
    let query: [String: String]
    let body: [UInt8]
    private let path: String
    private let rawQuery: [String]
    private let headers: HTTPHeaders

    init(_ request: HTTPRequest) {
        method = "\(request.method)".uppercased()
        target = String(decoding: request.target, as: UTF8.self)
        body = request.body
        headers = request.headers
        let halves = target.split(separator: "?", maxSplits: 1)
        path = String(halves[0])
        let parts = path.dropFirst().split(separator: "/", maxSplits: 1)
        bucket = parts.first.map(String.init) ?? ""
        key = parts.count > 1 ? String(parts[1]).removingPercentEncoding ?? "" : ""
        rawQuery = halves.count > 1 ? halves[1].split(separator: "&").map(String.init) : []
        var query: [String: String] = [:]
        for pair in rawQuery {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            query[sides[0].removingPercentEncoding ?? ""] =
                sides.count > 1 ? String(sides[1]).removingPercentEncoding : ""
        }
        self.query = query
    }

    func header(_ name: String) -> String? { headers[name] }

    func isSigned(by secret: [UInt8]) -> Bool {
        if let signature = query["X-Amz-Signature"] {
            let rest = rawQuery.filter { !$0.hasPrefix("X-Amz-Signature=") }
            guard let credential = query["X-Amz-Credential"], let date = query["X-Amz-Date"],
                query["X-Amz-SignedHeaders"] == "host"
            else { return false }
            return signature
                == self.signature(
                    credential, date, ["host"], rest, payload: "UNSIGNED-PAYLOAD", secret)
        }
        guard let authorization = headers["authorization"],
            authorization.hasPrefix("AWS4-HMAC-SHA256 "), let date = headers["x-amz-date"],
            let payload = headers["x-amz-content-sha256"],
            payload == Hexadecimal.encode(SHA256.digest(body))
        else { return false }
        var fields: [String: String] = [:]
        for field in authorization.dropFirst(17).split(separator: ",") {
            let sides = field.split(separator: "=", maxSplits: 1)
            if sides.count == 2 { fields[String(sides[0])] = String(sides[1]) }
        }
        guard let credential = fields["Credential"], let names = fields["SignedHeaders"] else {
            return false
        }
        return fields["Signature"]
            == signature(
                credential, date, names.split(separator: ";").map(String.init), rawQuery,
                payload: payload, secret)
    }

    private func signature(
        _ credential: String, _ date: String, _ names: [String], _ query: [String],
        payload: String, _ secret: [UInt8]
    ) -> String {
        var lines = [method, path, query.sorted().joined(separator: "&")]
        for name in names { lines.append("\(name):\(headers[name] ?? "")") }
        lines += ["", names.joined(separator: ";"), payload]
        let scope = credential.split(separator: "/").dropFirst()
        guard credential.hasPrefix(S3StandInServer.accessKeyID + "/"), scope.count == 4,
            scope.elementsEqual([
                date.prefix(8), Substring(S3StandInServer.region), "s3", "aws4_request",
            ])
        else { return "a credential of another scope" }
        let digest = Hexadecimal.encode(
            SHA256.digest(Array(lines.joined(separator: "\n").utf8)))
        let text = "AWS4-HMAC-SHA256\n\(date)\n\(scope.joined(separator: "/"))\n\(digest)"
        let key = scope.reduce(Array("AWS4".utf8) + secret) {
            HMACSHA256(key: $0).code(for: Array($1.utf8))
        }
        return Hexadecimal.encode(HMACSHA256(key: key).code(for: Array(text.utf8)))
    }
}
