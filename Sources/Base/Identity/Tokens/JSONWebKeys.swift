import Cryptography
import JSON

/// The public keys of a provider, from its JWKS (RFC 7517).
package struct JSONWebKeys: Sendable {
    package static let bytesMax = 262_144
    /// More are not looked at.
    package static let keysMax = 64

    enum Key: Sendable {
        case es256(P256PublicKey)
        case rs256(RSAPublicKey)

        /// The one algorithm that the key is good for: the token does not choose.
        var algorithm: String {
            switch self {
            case .es256: "ES256"
            case .rs256: "RS256"
            }
        }

        func verify(_ signature: [UInt8], over message: [UInt8]) -> Bool {
            switch self {
            case .es256(let key):
                ECDSASignature.der(fromJoined: signature).map {
                    key.verify(signatureDER: $0, message: message)
                } ?? false
            case .rs256(let key): key.verify(signature: signature, message: message)
            }
        }
    }

    struct Entry: Sendable {
        let name: String?
        let key: Key
    }

    let entries: [Entry]

    /// Reads a set of keys; keys of other kinds, for other uses or other algorithms are passed over.
    ///
    /// Nil for what is no set of keys. A set may turn out to be empty.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.bytesMax else { return nil }
        let root: JSONValue
        do throws(JSONError) { root = try JSONDocument(parsing: bytes).root } catch { return nil }
        guard let keys = root["keys"], keys.kind == .array else { return nil }
        entries = keys.elements.prefix(Self.keysMax).compactMap(Self.entry)
    }

    /// How many keys of it can be used.
    package var count: Int { entries.count }

    private static func entry(_ value: JSONValue) -> Entry? {
        if let use = value["use"]?.string, use != "sig" { return nil }
        guard let key = key(value) else { return nil }
        if let algorithm = value["alg"]?.string, algorithm != key.algorithm { return nil }
        return Entry(name: value["kid"]?.string, key: key)
    }

    private static func key(_ value: JSONValue) -> Key? {
        func number(_ member: JSONValue?) -> [UInt8]? {
            member?.string.flatMap { Base64.decode($0, .urlSafe) }
        }
        do throws(KeyRefusal) {
            switch value["kty"]?.string {
            case "EC":
                guard value["crv"]?.string == "P-256", let x = number(value["x"]),
                    let y = number(value["y"]), x.count == 32, y.count == 32
                else { return nil }
                return .es256(try P256PublicKey(point: [4] + x + y))
            case "RSA":
                guard let modulus = number(value["n"]), let exponent = number(value["e"]) else {
                    return nil
                }
                return RSAPublicKey(modulus: modulus, exponent: exponent).map { .rs256($0) }
            default: return nil
            }
        } catch {
            return nil
        }
    }
}
