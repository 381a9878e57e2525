/// Why credentials were not believed.
///
/// It is for the log alone. Callers get the same answer for several of these reasons. So nobody
/// learns from an answer which part of a guess was right.
package enum CredentialRefusal: String, Sendable, CaseIterable {
    case apiTokenUnknown = "no such API token for this environment"
    case originNotAllowed = "the API token does not allow this origin"
    case webTokenUnknown = "the web token is unknown or was revoked"
    case webTokenExpired = "the web token has expired or is of another place"
    case keyUnknown = "no such server key for this environment"
    case signatureUnreadable = "the signature is not DER in base64"
    case dateUnreadable = "the date cannot be read"
    case dateTooFar = "the date is too far from the clock of the server"
    case signatureWrong = "the signature is not of this key and request"
    case scopeTooNarrow = "the key may not act for users"
    case userUnknown = "no such user to act for"
    case callerOfWrongKind = "the endpoint does not serve this kind of caller"
}
