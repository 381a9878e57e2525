/// Sends requests to another service that records are taken over from, at addresses that are checked as those of webhooks
/// are.
///
/// Everything here blocks.
package protocol SourceRequests: Sendable {
    /// Posts a body and waits for the whole answer.
    ///
    /// - Parameter url: may hold a secret, which no failure tells.
    func post(
        _ body: [UInt8], to url: String, headers: [(name: String, value: String)]
    ) throws(SourceFailure) -> SourceAnswer

    /// Gets a file, piece by piece.
    ///
    /// - Parameter take: gets the pieces of an answer with status 200 alone.
    /// - Returns: the status.
    /// - Throws: `SourceFailure`; what `take` throws.
    func download(_ url: String, _ take: ([UInt8]) throws -> Void) throws -> Int
}

/// The whole answer to a request.
package struct SourceAnswer: Sendable {
    package let status: Int
    package let body: [UInt8]
    /// The token that the answer has in place of the one that was sent; nil for none.
    package let webToken: String?
    /// In how many seconds the service wants to be asked again; nil when it does not say.
    package let retryAfterSeconds: Int?

    package init(status: Int, body: [UInt8], webToken: String?, retryAfterSeconds: Int?) {
        self.status = status
        self.body = body
        self.webToken = webToken
        self.retryAfterSeconds = retryAfterSeconds
    }
}

/// Why a request has no whole answer.
package struct SourceFailure: Error, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether the same request may be answered a little later.
    package let mayPass: Bool
    /// The token that the answer had in place of the one that was sent, when it broke off behind that; nil for none.
    package let webToken: String?

    package init(_ description: String, mayPass: Bool, webToken: String? = nil) {
        self.description = description
        self.mayPass = mayPass
        self.webToken = webToken
    }
}
