/// Asks identity providers, each question with its own answer; blocks.
package protocol ProviderFetch: Sendable {
    /// - Parameters:
    ///   - form: sent by POST; nil for GET.
    ///   - authorization: of the header of that name; nil for none.
    /// - Returns: the body of an answer 200.
    /// - Throws: `ProviderFailure.unreachable`.
    func fetch(
        _ address: String, form: String?, authorization: String?
    ) throws(ProviderFailure) -> [UInt8]
}

/// Why a sign-in through a provider fails.
package enum ProviderFailure: Error, Sendable, Equatable {
    /// No provider has that name.
    case unknown
    /// It does not answer, or not as it must; the reason is for the log.
    case unreachable(String)
    /// It was not begun in this browser, took too long, or was finished before.
    case notBegun
    /// They or the provider have refused.
    case refused
    /// The provider's claims are refused; the reason is for the log.
    case notBelieved(String)
}
