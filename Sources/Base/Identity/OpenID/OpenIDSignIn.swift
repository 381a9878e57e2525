import Cryptography
import JSON

/// One sign-in by way of a provider: the code flow of OpenID Connect Core 1.0 with PKCE (RFC 7636).
///
/// Pure. Its three secrets are kept under `state`, bound to the browser that began it. They are good for a
/// few minutes and for one use.
package struct OpenIDSignIn: Sendable, Equatable {
    /// What the provider calls us.
    package struct Client: Sendable, Equatable {
        package let identifier: String
        /// Where the provider sends people back to; registered there.
        package let redirectURL: String
        /// Such as `openid email`.
        package let scope: String
        /// Whether the answer comes as a form by POST, as Apple demands where it tells a name.
        package let usesFormPost: Bool

        package init(
            identifier: String, redirectURL: String, scope: String, usesFormPost: Bool
        ) {
            self.identifier = identifier
            self.redirectURL = redirectURL
            self.scope = scope
            self.usesFormPost = usesFormPost
        }
    }

    package let state: String
    package let nonce: String
    package let verifier: String

    /// A new one.
    package init(random: RandomSource) {
        self.init(
            state: Self.token(random), nonce: Self.token(random), verifier: Self.token(random))
    }

    /// One that was kept.
    package init(state: String, nonce: String, verifier: String) {
        self.state = state
        self.nonce = nonce
        self.verifier = verifier
    }

    private static func token(_ random: RandomSource) -> String {
        Base64.encode(random.bytes(32), .urlSafe)
    }

    /// What the provider is told of the verifier before it gets it (RFC 7636 §4.2, `S256`).
    package static func challenge(of verifier: String) -> String {
        Base64.encode(SHA256.digest(Array(verifier.utf8)), .urlSafe)
    }

    /// Where the browser is sent.
    package func authorizationURL(at provider: OpenIDProvider, for client: Client) -> String {
        var fields: [(name: String, value: String)] = [
            ("response_type", "code"), ("client_id", client.identifier),
            ("redirect_uri", client.redirectURL), ("scope", client.scope), ("state", state),
            ("nonce", nonce), ("code_challenge", Self.challenge(of: verifier)),
            ("code_challenge_method", "S256"),
        ]
        if client.usesFormPost { fields.append(("response_mode", "form_post")) }
        let separator = provider.authorizationEndpoint.contains("?") ? "&" : "?"
        return provider.authorizationEndpoint + separator + ProviderFields.encode(fields)
    }

    /// What the browser brought back.
    package enum Callback: Sendable, Equatable {
        case code(String)
        /// They or the provider have refused; the word is the provider's.
        case refused(String)
    }

    /// Reads what came back; nil when it does not belong to this sign-in.
    package func callback(_ fields: ProviderFields) -> Callback? {
        guard let state = fields["state"],
            ConstantTime.areEqual(Array(state.utf8), Array(self.state.utf8))
        else { return nil }
        if let error = fields["error"] {
            let word = error.prefix(64).filter { $0.isASCII && $0.isLetter || $0 == "_" }
            return .refused(word)
        }
        return fields["code"].flatMap { $0.isEmpty || $0.utf8.count > 2_048 ? nil : .code($0) }
    }

    /// The body of the request that turns a code into tokens, and the header that goes with it.
    ///
    /// - Parameter secret: the client's; nil for one that has none.
    package func tokenRequest(
        code: String, secret: String?, at provider: OpenIDProvider, for client: Client
    ) -> (body: String, authorization: String?) {
        var fields: [(name: String, value: String)] = [
            ("grant_type", "authorization_code"), ("code", code),
            ("redirect_uri", client.redirectURL), ("code_verifier", verifier),
        ]
        if let secret, !provider.takesSecretInBody {
            // RFC 6749 §2.3.1: both parts are escaped before they are joined.
            let pair = ProviderFields.encode([(client.identifier, secret)]).replacing(
                "=", with: ":")
            return (ProviderFields.encode(fields), "Basic \(Base64.encode(Array(pair.utf8)))")
        }
        fields.append(("client_id", client.identifier))
        if let secret { fields.append(("client_secret", secret)) }
        return (ProviderFields.encode(fields), nil)
    }

    /// The ID token of the provider's answer; nil when there is none.
    package static func identityToken(in answer: [UInt8]) -> String? {
        guard answer.count <= 4 * JSONWebToken.bytesMax else { return nil }
        do throws(JSONError) {
            return try JSONDocument(parsing: answer).root["id_token"]?.string
        } catch {
            return nil
        }
    }

    /// The secret that Apple takes from a client: a token signed by the client's key.
    ///
    /// - Parameter seconds: now, since 1970.
    package static func appleSecret(
        team: String, client: String, keyName: String, seconds: Int64, key: P256PrivateKey
    ) -> String {
        SignedToken.make(
            [
                ("iss", .text(team)), ("iat", .number(seconds)), ("exp", .number(seconds + 300)),
                ("aud", .text("https://appleid.apple.com")), ("sub", .text(client)),
            ], keyName: keyName, key: key)
    }
}
