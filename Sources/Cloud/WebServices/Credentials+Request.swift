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
        let body = (request.bodyWitness as? BodyDigest)?.signed ?? .bytes(request.body)
        // Most requests have none of these headers, so this avoids a search for each.
        guard headers.hasName(beginning: "x-apple-cloudkit-") else {
            self.init(query: query, origin: headers["origin"], body: body)
            return
        }
        self.init(
            query: query, keyID: headers["x-apple-cloudkit-request-keyid"],
            date: headers["x-apple-cloudkit-request-iso8601date"],
            signature: headers["x-apple-cloudkit-request-signaturev1"],
            webToken: headers["x-apple-cloudkit-web-auth-token"]
                ?? headers["x-apple-cloudkit-session"],
            repeatedHeader: Self.names.first { headers.repeats($0.lowercased()) },
            origin: headers["origin"], body: body)
    }
}
