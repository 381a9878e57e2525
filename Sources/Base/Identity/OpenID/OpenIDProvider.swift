import JSON

/// Where a provider of OpenID Connect is spoken to, by its own document (OpenID Connect Discovery 1.0).
package struct OpenIDProvider: Sendable, Equatable {
    package static let documentBytesMax = 262_144

    /// Exactly as the provider writes it: with the subject it makes the identity.
    package let issuer: String
    package let authorizationEndpoint: String
    package let tokenEndpoint: String
    package let keysAddress: String
    /// Whether the client's secret may go into the body of the request, rather than into a header.
    package let takesSecretInBody: Bool

    /// Where a provider's document is.
    package static func documentAddress(ofIssuer issuer: String) -> String {
        (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer)
            + "/.well-known/openid-configuration"
    }

    /// Reads a provider's document.
    ///
    /// Nil when the bytes are not such a document, when it belongs to another issuer (§4.3), or when it leads
    /// to plain `http` although the issuer uses `https`.
    package init?(_ bytes: [UInt8], ofIssuer issuer: String) {
        guard bytes.count <= Self.documentBytesMax else { return nil }
        let root: JSONValue
        do throws(JSONError) { root = try JSONDocument(parsing: bytes).root } catch { return nil }
        let schemes = issuer.hasPrefix("http://") ? ["https://", "http://"] : ["https://"]
        func address(_ value: JSONValue?) -> String? {
            value?.string.flatMap { text in
                schemes.contains(where: text.hasPrefix)
                    && text.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "#") }
                    ? text : nil
            }
        }
        guard root["issuer"]?.string == issuer,
            let authorization = address(root["authorization_endpoint"]),
            let token = address(root["token_endpoint"]), let keys = address(root["jwks_uri"])
        else { return nil }
        self.issuer = issuer
        authorizationEndpoint = authorization
        tokenEndpoint = token
        keysAddress = keys
        let methods = root["token_endpoint_auth_methods_supported"]?.elements.map(\.string)
        takesSecretInBody = methods?.contains("client_secret_post") ?? false
    }
}

/// When a provider's keys are fetched: it changes them now and then, and strangers must not decide when.
package struct KeyRotation: Sendable, Equatable {
    /// Keys older than this are fetched anew before they are used.
    package static let secondsMax: Int64 = 86_400
    /// For a token whose key is not among them, keys are fetched anew no more often than this.
    package static let secondsMin: Int64 = 60

    private let fetchedAt: Int64?

    /// - Parameter fetchedAt: when they were asked for last, whatever came of it; nil for never.
    package init(fetchedAt: Int64?) { self.fetchedAt = fetchedAt }

    /// Whether keys have to be fetched before a token is verified.
    package func isDue(at seconds: Int64) -> Bool {
        fetchedAt.map { seconds - $0 >= Self.secondsMax || seconds < $0 } ?? true
    }

    /// Whether keys may be fetched because a token's is not among them.
    package func mayFetch(at seconds: Int64) -> Bool {
        fetchedAt.map { seconds - $0 >= Self.secondsMin || seconds < $0 } ?? true
    }
}
