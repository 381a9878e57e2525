import Accounts
import Cryptography
import Foundation
import Identity
import Synchronization
import Testing

/// An identity provider without sockets: checks what it is asked as a strict one does, and says what tests
/// have it say.
final class StandInProvider: ProviderFetch {
    static let issuer = "https://id.example"
    static let client = "lenticular"

    private struct Waiting {
        let nonce: String
        let challenge: String
        let redirect: String
    }

    private struct State {
        var key = P256PrivateKey()
        var keyName = "k1"
        /// Of the set of keys; another than the token's where a test wants it.
        var shownKeyName = "k1"
        var waiting: [String: Waiting] = [:]
        var claims: [String: String] = [:]
        var algorithm = "ES256"
        var asked: [String] = []
        var isSilent = false
        var secret: String?
        var signature: P256PrivateKey?
    }

    private let state = Mutex(State())

    /// What was asked, in order: the last parts of the addresses.
    var asked: [String] { state.withLock { $0.asked } }

    /// Claims in JSON, in place of those that a token has by itself.
    func say(_ claims: [String: String]) { state.withLock { $0.claims = claims } }

    func sign(by algorithm: String) { state.withLock { $0.algorithm = algorithm } }

    func fallSilent() { state.withLock { $0.isSilent = true } }

    func demand(secret: String) { state.withLock { $0.secret = secret } }

    /// Takes no other secret than a token that a key has signed, as Apple does.
    func demand(signatureOf key: P256PrivateKey) { state.withLock { $0.signature = key } }

    /// Signs by another key from now on.
    func rotate(showing isShown: Bool = true) {
        state.withLock {
            $0.key = P256PrivateKey()
            $0.keyName += "+"
            if isShown { $0.shownKeyName = $0.keyName }
        }
    }

    /// Lets somebody in who was sent here; what the browser brings back.
    func letIn(_ address: String) throws -> (state: String, code: String) {
        let query = try #require(address.split(separator: "?", maxSplits: 1).last)
        let fields = try #require(ProviderFields(Array(query.utf8)))
        #expect(fields["client_id"] == Self.client && fields["response_type"] == "code")
        #expect(fields["code_challenge_method"] == "S256")
        let code = UUID().uuidString
        let waiting = Waiting(
            nonce: try #require(fields["nonce"]), challenge: try #require(fields["code_challenge"]),
            redirect: try #require(fields["redirect_uri"]))
        state.withLock { $0.waiting[code] = waiting }
        return (try #require(fields["state"]), code)
    }

    func fetch(
        _ address: String, form: String?, authorization: String?
    ) throws(ProviderFailure) -> [UInt8] {
        let answer = state.withLock { state -> String? in
            state.asked.append(String(address.split(separator: "/").last ?? ""))
            guard !state.isSilent else { return nil }
            switch address.dropFirst(Self.issuer.count) {
            case "/.well-known/openid-configuration":
                return """
                    {"issuer":"\(Self.issuer)","authorization_endpoint":"\(Self.issuer)/authorize",
                    "token_endpoint":"\(Self.issuer)/token","jwks_uri":"\(Self.issuer)/keys"}
                    """
            case "/keys":
                let point = state.key.publicKey.point
                return Self.keySet(point, state.shownKeyName)
            case "/token": return Self.trade(form ?? "", authorization, &state)
            default: return nil
            }
        }
        guard let answer else { throw .unreachable("status 400") }
        return Array(answer.utf8)
    }

    private static func keySet(_ point: [UInt8], _ name: String) -> String {
        """
        {"keys":[{"kty":"EC","crv":"P-256","kid":"\(name)",
        "x":"\(Base64.encode(Array(point[1..<33]), .urlSafe))",
        "y":"\(Base64.encode(Array(point[33...]), .urlSafe))"}]}
        """
    }

    /// Whether a secret is a token for Apple that the key has signed.
    private static func isSigned(_ authorization: String?, by key: P256PrivateKey) -> Bool {
        guard let pair = authorization?.split(separator: " ").last,
            let bytes = Base64.decode(String(pair)),
            let keys = JSONWebKeys(Array(keySet(key.publicKey.point, "K1").utf8)),
            let secret = String(decoding: bytes, as: UTF8.self).split(separator: ":").last,
            let token = try? JSONWebToken(String(secret)), (try? token.verify(with: keys)) != nil
        else { return false }
        return token.claims["iss"]?.string == "TEAM" && token.claims["sub"]?.string == client
            && token.claims["aud"]?.string == "https://appleid.apple.com"
    }

    /// Gives a token for a code, once, to whoever has the verifier.
    private static func trade(
        _ form: String, _ authorization: String?, _ state: inout State
    ) -> String? {
        guard let fields = ProviderFields(Array(form.utf8)), let code = fields["code"],
            let waiting = state.waiting.removeValue(forKey: code),
            fields["redirect_uri"] == waiting.redirect, let verifier = fields["code_verifier"],
            OpenIDSignIn.challenge(of: verifier) == waiting.challenge
        else { return nil }
        if let key = state.signature {
            guard isSigned(authorization, by: key) else { return nil }
        }
        if let secret = state.secret {
            let pair = Base64.encode(Array("\(client):\(secret)".utf8))
            guard authorization == "Basic \(pair)" else { return nil }
        }
        return "{\"id_token\":\"\(token(waiting.nonce, state))\",\"token_type\":\"Bearer\"}"
    }

    private static func token(_ nonce: String, _ state: State) -> String {
        let now = 1_767_225_600
        var claims = [
            "iss": "\"\(issuer)\"", "aud": "\"\(client)\"", "sub": "\"subject 1\"",
            "nonce": "\"\(nonce)\"", "exp": "\(now + 3_600)", "iat": "\(now)",
            "email": "\"ida@example.org\"", "email_verified": "true", "given_name": "\"Ida\"",
        ]
        claims.merge(state.claims) { $1 }
        let body = claims.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        let header = "{\"alg\":\"\(state.algorithm)\",\"kid\":\"\(state.keyName)\"}"
        let signed = [header, "{\(body)}"].map { Base64.encode(Array($0.utf8), .urlSafe) }
            .joined(separator: ".")
        let signature =
            state.algorithm == "none"
            ? [] : ECDSASignature.joined(fromDER: state.key.sign(Array(signed.utf8))) ?? []
        return "\(signed).\(Base64.encode(signature, .urlSafe))"
    }
}
