import CloudModel
import Storage

/// What a request's credentials came to.
package struct Identification: Sendable {
    /// The Origin to allow in the answer, also when the result is a fault; nil to allow none.
    package let allowedOrigin: String?
    package let result: Result<Identified, Fault>
    /// Why the credentials were refused, for the log alone; nil where the fault says it.
    package let refusal: CredentialRefusal?

    init(
        allowedOrigin: String?, result: Result<Identified, Fault>, refusal: CredentialRefusal? = nil
    ) {
        self.allowedOrigin = allowedOrigin
        self.result = result
        self.refusal = refusal
    }
}

/// A request's caller, with the credentials that were believed.
package final class Identified: Sendable {
    package let caller: Caller
    /// What goes back in `X-Apple-CloudKit-Web-Auth-Token` (rulings.md 4); nil without a web token.
    package let webToken: String?
    private let entry: CheckedTokens.Entry?
    let renewal: Renewal?

    init(_ entry: CheckedTokens.Entry, webToken: String?, renewal: Renewal?) {
        caller = entry.caller
        self.webToken = webToken
        self.entry = entry
        self.renewal = renewal
    }

    init(signer: Caller) {
        caller = signer
        webToken = nil
        entry = nil
        renewal = nil
    }

    /// Nil for a signed request.
    package var apiToken: APITokenRecord? { entry?.apiToken }

    /// The session of the web token; nil without one.
    package var session: [UInt8]? { entry?.webToken?.session }

    /// Whether half of the web token's life is over and no other has been made for it yet.
    ///
    /// Then `Authenticator.renewedWebToken(_:now:)` gives the token to send back instead. It writes
    /// to the disk, so never call it on an event loop.
    package var isRenewalDue: Bool { renewal != nil }

    /// What a token that replaces another is made from.
    final class Renewal: Sendable {
        let presented: TokenBytes
        let record: WebTokenRecord

        init(presented: TokenBytes, record: WebTokenRecord) {
            self.presented = presented
            self.record = record
        }
    }
}
