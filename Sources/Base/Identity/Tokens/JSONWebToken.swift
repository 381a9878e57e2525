import Cryptography
import JSON

/// Why a token is not believed.
package enum TokenRefusal: Error, Sendable, Equatable {
    /// Not three parts of base64url with an object of JSON in the first two.
    case malformed
    /// Neither ES256 nor RS256: `none` above all, and codes whose key is no secret, such as HS256.
    case algorithm
    /// Signed by a key that is not in the set: the provider may have new ones.
    case unknownKey
    case wrongSignature
    /// Something that it says is not what is wanted, by the claim's name.
    case claim(String)
}

/// A JSON Web Token (RFC 7519) in the compact form of RFC 7515, signed by ES256 or RS256.
package struct JSONWebToken: Sendable {
    package static let bytesMax = 16_384

    /// What it says; believed only after `verify`.
    package let claims: JSONValue
    private let algorithm: String
    private let keyName: String?
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// Takes a token apart.
    ///
    /// - Throws: `TokenRefusal.malformed` and `algorithm`.
    package init(_ text: String) throws(TokenRefusal) {
        guard text.utf8.count <= Self.bytesMax else { throw .malformed }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64.decode(Array(parts[2]), .urlSafe) else {
            throw .malformed
        }
        let header = try Self.object(parts[0])
        guard let algorithm = header["alg"]?.string else { throw .malformed }
        // What a token calls critical must be understood (RFC 7515 §4.1.11), and nothing is.
        guard header["crit"] == nil, header["b64"] == nil else { throw .malformed }
        guard algorithm == "ES256" || algorithm == "RS256" else { throw .algorithm }
        self.algorithm = algorithm
        keyName = header["kid"]?.string
        claims = try Self.object(parts[1])
        signed = Array(text.utf8.prefix(parts[0].count + 1 + parts[1].count))
        self.signature = signature
    }

    private static func object(_ part: Substring.UTF8View) throws(TokenRefusal) -> JSONValue {
        guard let bytes = Base64.decode(Array(part), .urlSafe) else { throw .malformed }
        let root: JSONValue
        do throws(JSONError) { root = try JSONDocument(parsing: bytes).root } catch {
            throw .malformed
        }
        guard root.kind == .object else { throw .malformed }
        return root
    }

    /// Sees that one of the keys has signed it, and by that key's own algorithm.
    ///
    /// - Throws: `TokenRefusal.unknownKey` and `wrongSignature`.
    package func verify(with keys: JSONWebKeys) throws(TokenRefusal) {
        let candidates = keys.entries.filter { entry in
            entry.key.algorithm == algorithm && (keyName == nil || entry.name == keyName)
        }
        guard !candidates.isEmpty else { throw .unknownKey }
        guard candidates.contains(where: { $0.key.verify(signature, over: signed) }) else {
            // Without a name it cannot be told whether the key is missing.
            throw keyName == nil ? .unknownKey : .wrongSignature
        }
    }
}

/// Tokens that the server signs with a key of its own, by ES256.
package enum SignedToken {
    /// What a claim may be.
    package enum Claim: Sendable {
        case text(String)
        case number(Int64)
    }

    /// The token for these claims, in their order.
    ///
    /// - Parameters:
    ///   - keyName: what the other side calls the key (`kid`); nil where it needs no name.
    ///   - type: what kind of token it is (`typ`); nil for none.
    package static func make(
        _ claims: [(name: String, value: Claim)], keyName: String? = nil, type: String? = nil,
        key: P256PrivateKey
    ) -> String {
        var header: [(name: String, value: Claim)] = [("alg", .text("ES256"))]
        if let type { header.append(("typ", .text(type))) }
        if let keyName { header.append(("kid", .text(keyName))) }
        let signed = [header, claims].map { Base64.encode(object($0), .urlSafe) }
            .joined(separator: ".")
        guard let signature = ECDSASignature.joined(fromDER: key.sign(Array(signed.utf8))) else {
            preconditionFailure("OpenSSL makes a signature that is none")
        }
        return "\(signed).\(Base64.encode(signature, .urlSafe))"
    }

    /// The token that Apple's push service takes from an app's key: an hour at most, and made anew no
    /// more often than every 20 minutes.
    ///
    /// - Parameter seconds: now, since 1970.
    package static func applePush(
        team: String, keyName: String, seconds: Int64, key: P256PrivateKey
    ) -> String {
        make([("iss", .text(team)), ("iat", .number(seconds))], keyName: keyName, key: key)
    }

    private static func object(_ members: [(name: String, value: Claim)]) -> [UInt8] {
        var writer = JSONWriter(reserving: 256)
        writer.raw("{")
        for (index, member) in members.enumerated() {
            if index > 0 { writer.raw(",") }
            writer.string(member.name)
            writer.raw(":")
            switch member.value {
            case .text(let text): writer.string(text)
            case .number(let number): writer.integer(number)
            }
        }
        writer.raw("}")
        return writer.bytes
    }
}
