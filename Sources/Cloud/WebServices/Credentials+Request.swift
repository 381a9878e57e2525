import Accounts
import HTTP

extension Credentials {
    /// The headers that a credential may come in; of each, one field counts.
    private static let names = [
        "X-Apple-CloudKit-Request-KeyID", "X-Apple-CloudKit-Request-ISO8601Date",
        "X-Apple-CloudKit-Request-SignatureV1", "X-Apple-CloudKit-Web-Auth-Token",
        "X-Apple-CloudKit-Session",
    ]

    /// Takes what a request has of each.
    ///
    /// - Parameter query: of its target.
    init(_ request: HTTPRequest, _ query: QueryString) {
        let headers = request.headers
        let keyID = headers["x-apple-cloudkit-request-keyid"]
        let date = headers["x-apple-cloudkit-request-iso8601date"]
        let signature = headers["x-apple-cloudkit-request-signaturev1"]
        let webToken = headers["x-apple-cloudkit-web-auth-token"]
        let session = headers["x-apple-cloudkit-session"]
        // Most requests have none of them, and are not to be searched again for each.
        let hasAny = [keyID, date, signature, webToken, session].contains { $0 != nil }
        self.init(
            query: query, keyID: keyID, date: date, signature: signature,
            webToken: webToken ?? session,
            repeatedHeader: hasAny
                ? Self.names.first { headers.repeats($0.lowercased()) } : nil,
            origin: headers["origin"],
            body: (request.bodyWitness as? BodyDigest)?.signed ?? .bytes(request.body))
    }
}
