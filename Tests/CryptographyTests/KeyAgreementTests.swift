import Cryptography
import Testing

@Suite("Derived keys, agreed keys, and signatures of RSA")
struct KeyAgreementTests {
    private func bytes(_ text: String) throws -> [UInt8] {
        try #require(Hexadecimal.decode(text))
    }

    @Test("A derived key is the first block of RFC 5869's first test case")
    func derived() throws {
        let key = HKDF.key(
            from: [UInt8](repeating: 0x0b, count: 22), salt: [UInt8](0...12),
            info: try bytes("f0f1f2f3f4f5f6f7f8f9"), bytes: 32)
        #expect(
            key
                == (try bytes("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf")))
    }

    @Test("HMAC-SHA1 is that of RFC 2202, for keys shorter and longer than a block")
    func sha1() throws {
        let short = HMACSHA1.code(
            for: Array("Hi There".utf8), key: [UInt8](repeating: 0x0b, count: 20))
        #expect(Hexadecimal.encode(short) == "b617318655057264e28bc0b6fb378c8ef146be00")
        let long = HMACSHA1.code(
            for: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            key: [UInt8](repeating: 0xaa, count: 80))
        #expect(Hexadecimal.encode(long) == "aa4ae5e15272d00e95705637ce8a3b55ed402112")
        #expect(HMACSHA1.code(for: [], key: []).count == HMACSHA1.codeBytes)
    }

    @Test("Base32 is that of RFC 4648, without padding")
    func base32() {
        let texts = ["", "MY", "MZXQ", "MZXW6", "MZXW6YQ", "MZXW6YTB", "MZXW6YTBOI"]
        for (count, text) in texts.enumerated() {
            #expect(Base32.encode(Array("foobar".utf8.prefix(count))) == text)
        }
    }

    @Test("Two keys agree on one secret, and points off the curve are no keys")
    func agreement() throws {
        let (one, other) = (P256PrivateKey(), P256PrivateKey())
        let secret = try #require(one.secret(with: other.publicKey))
        #expect(secret.count == 32)
        #expect(other.secret(with: one.publicKey) == secret)
        let point = one.publicKey.point
        #expect(try P256PublicKey(point: point).der == one.publicKey.der)
        var off = point
        off[64] ^= 1
        let wrong: [[UInt8]] = [off, Array(point.dropLast()), [2] + point.dropFirst(), [], [4]]
        for wrong in wrong {
            #expect(throws: KeyRefusal.notP256) { try P256PublicKey(point: wrong) }
        }
    }

    @Test("A signature is the same in DER and as two numbers side by side")
    func signatureForms() throws {
        let key = P256PrivateKey()
        // Often enough that short numbers and numbers with a high bit occur.
        for round in 0..<600 {
            let message = Array("message \(round)".utf8)
            let der = key.sign(message)
            let joined = try #require(ECDSASignature.joined(fromDER: der))
            #expect(joined.count == 64)
            #expect(ECDSASignature.der(fromJoined: joined) == der)
        }
        #expect(ECDSASignature.joined(fromDER: [0x30, 0]) == nil)
        #expect(ECDSASignature.der(fromJoined: [UInt8](repeating: 1, count: 63)) == nil)
        let zero = try #require(
            ECDSASignature.der(fromJoined: [UInt8](repeating: 0, count: 64)))
        #expect(!key.publicKey.verify(signatureDER: zero, message: []))
    }
}
