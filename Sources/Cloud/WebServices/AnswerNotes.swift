import Accounts
import CloudModel

/// What the stages of a request have noted for its answer's head and for the line in the log.
struct AnswerNotes: Sendable {
    var address: RequestAddress?
    /// The row of the route table, or another name that the log knows.
    var operation: String?
    var caller: Caller?
    /// Why credentials were refused; only for the log.
    var refusal: CredentialRefusal?
    /// The session of the web token that was believed.
    var session: [UInt8]?
    /// How far a refused date of a signature is ahead of the server's clock.
    var dateAheadMilliseconds: Milliseconds?
    /// The user that such a request says it acts for.
    var claimedUser: UserRecordName?
    /// Of a body that streamed.
    var bytesStreamedIn = 0
    var work = RequestWork()
    var stages = RequestStages()
    /// The Origin that the API token allows, to be echoed.
    var allowedOrigin: String?
    /// The web token to send back.
    var webToken: String?
    var contentType = Self.json
    /// Headers besides those that every answer has.
    var moreHeaders: [(name: String, value: String)] = []
    /// The headers that pages of other origins may read.
    ///
    /// By `Date`, a page whose clock is wrong knows the time.
    var exposedHeaders =
        "X-Apple-Request-UUID,X-Apple-CloudKit-Web-Auth-Token,X-Apple-CloudKit-Session,Date"
    /// Called with whether the answer has reached the client.
    var whenSent: (@Sendable (Bool) -> Void)?

    static let json = "application/json; charset=UTF-8"

    func headers(of requestID: String) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        fields.reserveCapacity(8)
        fields.append(("Content-Type", contentType))
        fields.append(("X-Apple-Request-UUID", requestID))
        if let webToken {
            fields.append(("X-Apple-CloudKit-Web-Auth-Token", webToken))
            fields.append(("X-Apple-CloudKit-Session", webToken))
        }
        fields += moreHeaders
        if let allowedOrigin {
            fields.append(("Access-Control-Allow-Origin", allowedOrigin))
            fields.append(("Access-Control-Expose-Headers", exposedHeaders))
            fields.append(("Vary", "Origin"))
        }
        return fields
    }
}
