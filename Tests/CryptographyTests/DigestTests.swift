import Cryptography
import Testing

@Suite("Digests and codes")
struct DigestTests {
    /// FIPS 180-4 examples, by the NIST's example values for SHA-256.
    static let digests: [(message: [UInt8], digest: String)] = [
        ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]

    @Test("SHA-256 gives the published digests", arguments: digests)
    func publishedDigests(message: [UInt8], digest: String) {
        #expect(Hexadecimal.encode(SHA256.digest(message)) == digest)
    }

    @Test("SHA-256 gives the published digest of a million letters")
    func publishedLongDigest() {
        let digest = Hexadecimal.encode(
            SHA256.digest([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)))
        #expect(digest == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test("A message digested in pieces has the digest of the whole")
    func digestInPieces() {
        let message = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for pieceBytes in [1, 63, 64, 65, 500] {
            var hash = SHA256()
            var at = 0
            while at < message.count {
                let end = min(at + pieceBytes, message.count)
                hash.update(Array(message[at..<end]))
                at = end
            }
            #expect(hash.digest() == SHA256.digest(message))
        }
    }

    @Test("Asking for the digest so far does not end the message")
    func digestSoFar() {
        var hash = SHA256()
        hash.update(Array("a".utf8))
        #expect(hash.digest() == SHA256.digest(Array("a".utf8)))
        hash.update(Array("bc".utf8))
        #expect(hash.digest() == SHA256.digest(Array("abc".utf8)))
    }

    struct CodeCase: Sendable {
        let key: [UInt8]
        let message: [UInt8]
        let code: String
    }

    /// RFC 4231 §4.2-4.8; case 5 is published cut to 16 bytes.
    static let codes: [CodeCase] = [
        CodeCase(
            key: [UInt8](repeating: 0x0b, count: 20), message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        CodeCase(
            key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        CodeCase(
            key: [UInt8](repeating: 0xaa, count: 20), message: [UInt8](repeating: 0xdd, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        CodeCase(
            key: Array(1...25), message: [UInt8](repeating: 0xcd, count: 50),
            code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        CodeCase(
            key: [UInt8](repeating: 0x0c, count: 20), message: Array("Test With Truncation".utf8),
            code: "a3b6167473100ee06e0c796c2955552b"),
        CodeCase(
            key: [UInt8](repeating: 0xaa, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        CodeCase(
            key: [UInt8](repeating: 0xaa, count: 131),
            message: Array(
                ("This is a test using a larger than block-size key and a larger than "
                    + "block-size data. The key needs to be hashed before being used by the "
                    + "HMAC algorithm.").utf8),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
    ]

    @Test("HMAC-SHA256 gives the published codes, whole and cut", arguments: codes)
    func publishedCodes(_ published: CodeCase) {
        let key = HMACSHA256(key: published.key)
        let bytes = published.code.utf8.count / 2
        let code = key.code(for: published.message, bytes: bytes)
        #expect(Hexadecimal.encode(code) == published.code)
        #expect(key.isValid(code, for: published.message))
        // The prepared key is not used up.
        #expect(key.code(for: published.message, bytes: bytes) == code)
    }

    @Test("A code with any bit changed, or too short to mean anything, is refused")
    func changedCode() {
        let key = HMACSHA256(key: Array("key".utf8))
        let message = Array("message".utf8)
        let code = key.code(for: message)
        for bit in 0..<(8 * code.count) {
            var changed = code
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.isValid(changed, for: message))
        }
        for count in 0..<HMACSHA256.codeBytesMin {
            #expect(!key.isValid(Array(code.prefix(count)), for: message))
        }
        #expect(key.isValid(Array(code.prefix(16)), for: message))
        #expect(!key.isValid(code + [0], for: message))
    }

    @Test("Comparison in constant time sees every difference")
    func comparison() {
        let secret = Array("0123456789abcdef".utf8)
        #expect(ConstantTime.areEqual(secret, secret))
        #expect(ConstantTime.areEqual([], []))
        #expect(!ConstantTime.areEqual(secret, Array(secret.dropLast())))
        for at in secret.indices {
            var other = secret
            other[at] ^= 0x80
            #expect(!ConstantTime.areEqual(secret, other))
        }
    }

    @Test("The system's random bytes are as many as asked for and differ each time")
    func randomBytes() {
        #expect(RandomSource.system.bytes(0).isEmpty)
        let first = RandomSource.system.bytes(32)
        #expect(first.count == 32)
        #expect(first != RandomSource.system.bytes(32))
    }
}
