import Cryptography
import JSON

/// A person's identity, from a provider's ID token that was checked (OpenID Connect Core 1.0
/// §3.1.3.7).
///
/// Issuer and subject together are the identity; an e-mail address is not.
package struct IdentityClaims: Sendable, Equatable {
    /// How far a provider's clock may be off, either way.
    package static let skewSeconds: Int64 = 60
    /// §2: `sub`.
    private static let subjectBytesMax = 255

    package let issuer: String
    package let subject: String
    package let email: String?
    /// As the provider says: believe it as far as you trust the provider.
    package let isEmailVerified: Bool
    package let givenName: String?
    package let familyName: String?

    /// Checks a token and what it says.
    ///
    /// - Parameters:
    ///   - client: what the provider calls us.
    ///   - nonce: of the sign-in.
    ///   - seconds: now, since 1970.
    /// - Throws: `TokenRefusal`; after `unknownKey` the keys may be fetched anew (`KeyRotation`).
    package init(
        token: String, keys: JSONWebKeys, issuer: String, client: String, nonce: String,
        seconds: Int64
    ) throws(TokenRefusal) {
        let token = try JSONWebToken(token)
        try token.verify(with: keys)
        let claims = token.claims
        guard claims["iss"]?.string == issuer else { throw .claim("iss") }
        try Self.requireAudience(claims, client)
        guard let end = Self.time(claims["exp"]), seconds < end + Self.skewSeconds else {
            throw .claim("exp")
        }
        guard let made = Self.time(claims["iat"]), made <= seconds + Self.skewSeconds else {
            throw .claim("iat")
        }
        if let start = claims["nbf"] {
            guard let start = Self.time(start), start <= seconds + Self.skewSeconds else {
                throw .claim("nbf")
            }
        }
        guard let answered = claims["nonce"]?.string,
            ConstantTime.areEqual(Array(answered.utf8), Array(nonce.utf8))
        else { throw .claim("nonce") }
        guard let subject = claims["sub"]?.string, !subject.isEmpty,
            subject.utf8.count <= Self.subjectBytesMax
        else { throw .claim("sub") }
        self.issuer = issuer
        self.subject = subject
        email = claims["email"]?.string
        // Apple writes it as a text.
        isEmailVerified =
            claims["email_verified"]?.bool ?? (claims["email_verified"]?.string == "true")
        givenName = claims["given_name"]?.string
        familyName = claims["family_name"]?.string
    }

    /// It is for us, and if for others as well, it was given to us.
    private static func requireAudience(
        _ claims: JSONValue, _ client: String
    ) throws(TokenRefusal) {
        guard let audience = claims["aud"] else { throw .claim("aud") }
        let all = audience.string.map { [$0] } ?? audience.elements.compactMap(\.string)
        guard all.contains(client) else { throw .claim("aud") }
        let party = claims["azp"]?.string
        guard all.count == 1 ? party == nil || party == client : party == client else {
            throw .claim("azp")
        }
    }

    /// Seconds since 1970; some write a fraction.
    private static func time(_ value: JSONValue?) -> Int64? {
        guard let value else { return nil }
        let limit = 253_402_300_800.0
        let seconds = value.int64 ?? value.double.flatMap { abs($0) < limit ? Int64($0) : nil }
        // So that nothing that is added to it overflows.
        return seconds.flatMap { abs(Double($0)) < limit ? $0 : nil }
    }
}
