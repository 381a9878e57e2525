import Accounts
import HTTP

extension Credentials {
    /// The headers that may hold a credential; each counts only once.
    private static let names = [
        "X-Apple-CloudKit-Request-KeyID", "X-Apple-CloudKit-Request-ISO8601Date",
        "X-Apple-CloudKit-Request-SignatureV1", "X-Apple-CloudKit-Web-Auth-Token",
        "X-Apple-CloudKit-Session",
    ]

    /// Reads the credentials that a request has.
    ///
    /// - Parameter query: the query of the request's target.
    init(_ request: HTTPRequest, _ query: QueryString) {
        let headers = request.headers
        let keyID = headers["x-apple-cloudkit-request-keyid"]
        let date = headers["x-apple-cloudkit-request-iso8601date"]
        let signature = headers["x-apple-cloudkit-request-signaturev1"]
        let webToken = headers["x-apple-cloudkit-web-auth-token"]
        let session = headers["x-apple-cloudkit-session"]
        // Most requests have none of these headers, so this avoids a search for each.
        let hasAny =
            keyID != nil || date != nil || signature != nil || webToken != nil || session != nil
        self.init(
            query: query, keyID: keyID, date: date, signature: signature,
            webToken: webToken ?? session,
            repeatedHeader: hasAny
                ? Self.names.first { headers.repeats($0.lowercased()) } : nil,
            origin: headers["origin"],
            body: (request.bodyWitness as? BodyDigest)?.signed ?? .bytes(request.body))
    }
}
