import Cryptography
import Identity
import JSON
import Seeding
import Testing

@Suite("JSON Web Tokens")
struct TokenTests {
    /// RFC 7515, appendix A.3.
    private static let es256 =
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
        + "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw"
        + "5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    /// RFC 7515, appendix A.2.
    private static let rs256 =
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
        + "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu"
        + "3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdi"
        + "uB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--x"
        + "i12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5A"
        + "XLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
    private static let modulus =
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1"
        + "Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63k"
        + "paSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh"
        + "9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyu"
        + "XpoQ"
    private static let point = (
        "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    )

    private static func set(_ keys: String...) throws -> JSONWebKeys {
        try #require(JSONWebKeys(Array("{\"keys\":[\(keys.joined(separator: ","))]}".utf8)))
    }

    private static let curve =
        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"\(point.0)\",\"y\":\"\(point.1)\"}"
    private static let rsa = "{\"kty\":\"RSA\",\"n\":\"\(modulus)\",\"e\":\"AQAB\"}"

    private func verify(_ token: String, _ keys: JSONWebKeys) throws {
        try JSONWebToken(token).verify(with: keys)
    }

    @Test("The published tokens are believed by their own keys alone")
    func published() throws {
        let both = try Self.set(Self.curve, Self.rsa)
        #expect(both.count == 2)
        try verify(Self.es256, both)
        try verify(Self.rs256, both)
        #expect(try JSONWebToken(Self.es256).claims["iss"]?.string == "joe")
        #expect(throws: TokenRefusal.unknownKey) { try verify(Self.es256, Self.set(Self.rsa)) }
        #expect(throws: TokenRefusal.unknownKey) { try verify(Self.rs256, Self.set(Self.curve)) }
        #expect(throws: TokenRefusal.unknownKey) { try verify(Self.rs256, Self.set()) }
    }

    private func token(_ header: String, _ claims: String, _ signature: [UInt8]) -> String {
        [Array(header.utf8), Array(claims.utf8), signature].map { Base64.encode($0, .urlSafe) }
            .joined(separator: ".")
    }

    @Test("No algorithm, and one whose key is public, are refused before a key is looked for")
    func algorithms() throws {
        for name in ["none", "None", "NONE", "", "HS256", "HS512", "ES384", "PS256", "RS1"] {
            #expect(throws: TokenRefusal.algorithm) {
                try JSONWebToken(token("{\"alg\":\"\(name)\"}", "{}", []))
            }
        }
        // HS256 with the public key in place of a secret.
        let key = P256PrivateKey()
        let signed = Self.es256.split(separator: ".")[1]
        let head = Base64.encode(Array("{\"alg\":\"HS256\"}".utf8), .urlSafe)
        let code = HMACSHA256(key: Array(key.publicKeyPEM.utf8)).code(
            for: Array("\(head).\(signed)".utf8))
        #expect(throws: TokenRefusal.algorithm) {
            try JSONWebToken("\(head).\(signed).\(Base64.encode(code, .urlSafe))")
        }
        // The algorithm of the one key, said of the other.
        let parts = Self.es256.split(separator: ".")
        let renamed = Base64.encode(Array("{\"alg\":\"RS256\"}".utf8), .urlSafe)
        #expect(throws: TokenRefusal.self) {
            try verify(
                "\(renamed).\(parts[1]).\(parts[2])", Self.set(Self.curve, Self.rsa))
        }
    }

    @Test("What is not three parts of canonical base64url with objects in them is no token")
    func malformed() throws {
        let parts = Self.es256.split(separator: ".").map(String.init)
        let texts = [
            "", ".", "..", "...", parts[0], "\(parts[0]).\(parts[1])", "\(Self.es256).",
            "\(Self.es256)=", " \(Self.es256)", token("[]", "{}", []), token("{", "{}", []),
            token("{\"alg\":1}", "{}", []), token("{\"alg\":\"ES256\"}", "[]", []),
            token("{\"alg\":\"ES256\",\"alg\":\"RS256\"}", "{}", []),
            token("{\"alg\":\"ES256\",\"crit\":[\"x\"]}", "{}", []),
            token("{\"alg\":\"ES256\",\"b64\":false}", "{}", []),
            String(repeating: "a", count: JSONWebToken.bytesMax + 1),
        ]
        for text in texts {
            #expect(throws: TokenRefusal.malformed, "\(text.prefix(80))") { try JSONWebToken(text) }
        }
    }

    @Test("A token names its key; one that is not there may be new")
    func names() throws {
        let key = P256PrivateKey()
        let text = SignedToken.make([("a", .number(1))], keyName: "two", key: key)
        let point = key.publicKey.point
        func entry(_ name: String, _ point: [UInt8]) -> String {
            "{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"\(name)\",\"use\":\"sig\",\"alg\":\"ES256\","
                + "\"x\":\"\(Base64.encode(Array(point[1..<33]), .urlSafe))\","
                + "\"y\":\"\(Base64.encode(Array(point[33...]), .urlSafe))\"}"
        }
        let other = P256PrivateKey().publicKey.point
        try verify(text, Self.set(entry("one", other), entry("two", point)))
        #expect(throws: TokenRefusal.unknownKey) { try verify(text, Self.set(entry("one", point))) }
        #expect(throws: TokenRefusal.wrongSignature) {
            try verify(text, Self.set(entry("two", other)))
        }
    }

    @Test("Keys for other uses, other algorithms and other curves are passed over")
    func keySets() throws {
        let plain = Self.curve.dropLast()
        let set = try Self.set(
            "\(plain),\"use\":\"enc\"}", "\(plain),\"alg\":\"ES384\"}",
            "\(plain),\"alg\":\"RS256\"}", "{\"kty\":\"oct\",\"k\":\"AAAA\"}", "{}", "1", "null",
            "{\"kty\":\"EC\",\"crv\":\"P-384\",\"x\":\"AA\",\"y\":\"AA\"}",
            "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}",
            "{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}",
            "{\"kty\":\"RSA\",\"n\":\"\(Self.modulus)\",\"e\":\"AQ\"}",
            "{\"kty\":\"RSA\",\"n\":\"\(Self.modulus)\",\"e\":\"AA\"}", Self.rsa)
        #expect(set.count == 1)
        for text in ["", "[]", "{}", "{\"keys\":{}}", "{\"keys\":[}"] {
            #expect(JSONWebKeys(Array(text.utf8)) == nil)
        }
        let copies = [String](repeating: Self.curve, count: 99).joined(separator: ",")
        let many = "{\"keys\":[\(copies)]}"
        #expect(JSONWebKeys(Array(many.utf8))?.count == JSONWebKeys.keysMax)
    }

    @Test("A token of ours is believed by who has the key's other half")
    func signing() throws {
        let key = P256PrivateKey()
        let text = SignedToken.applePush(team: "TEAM", keyName: "KEY", seconds: 17, key: key)
        let parts = text.split(separator: ".")
        let header = try #require(Base64.decode(String(parts[0]), .urlSafe))
        #expect(String(decoding: header, as: UTF8.self) == "{\"alg\":\"ES256\",\"kid\":\"KEY\"}")
        let claims = try #require(Base64.decode(String(parts[1]), .urlSafe))
        #expect(String(decoding: claims, as: UTF8.self) == "{\"iss\":\"TEAM\",\"iat\":17}")
        let signature = try #require(Base64.decode(String(parts[2]), .urlSafe))
        let der = try #require(ECDSASignature.der(fromJoined: signature))
        #expect(
            key.publicKey.verify(
                signatureDER: der, message: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test("Whatever is changed in a token, it is not believed")
    func random() throws {
        var random = SeededRandom("tokens")
        let keys = try Self.set(Self.curve, Self.rsa)
        let letters = Array("ABCdef019-_.={}\"".utf8)
        for token in [Self.es256, Self.rs256] {
            for _ in 0..<3_000 {
                var bytes = Array(token.utf8)
                let location = random.below(bytes.count)
                switch random.below(3) {
                case 0:
                    let letter = random.one(of: letters)
                    if bytes[location] == letter { continue }
                    bytes[location] = letter
                case 1: bytes.remove(at: location)
                default: bytes.insert(random.one(of: letters), at: location)
                }
                #expect(throws: TokenRefusal.self) {
                    try verify(String(decoding: bytes, as: UTF8.self), keys)
                }
            }
        }
    }
}
