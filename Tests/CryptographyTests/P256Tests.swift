import Cryptography
import Foundation
import Testing

@Suite("P-256 keys and signatures")
struct P256Tests {
    /// RFC 6979 §A.2.5: the key, and the signature of "sample" with SHA-256.
    static let publishedPoint =
        "60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
        + "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
    static let publishedSignature =
        "3046" + "022100efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
        + "022100f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
    static let prefix = "3059301306072a8648ce3d020106082a8648ce3d03010703420004"

    static func publishedKey() throws -> P256PublicKey {
        try P256PublicKey(der: #require(Hexadecimal.decode(prefix + publishedPoint)))
    }

    @Test("A published signature is valid, over its own message only")
    func published() throws {
        let key = try P256Tests.publishedKey()
        let signature = try #require(Hexadecimal.decode(P256Tests.publishedSignature))
        #expect(key.verify(signatureDER: signature, message: Array("sample".utf8)))
        #expect(!key.verify(signatureDER: signature, message: Array("samplE".utf8)))
        #expect(!key.verify(signatureDER: signature, message: []))
        #expect(!key.verify(signatureDER: [], message: Array("sample".utf8)))
    }

    @Test("A signature with any bit changed, cut or lengthened is refused")
    func changedSignature() throws {
        let key = try P256Tests.publishedKey()
        let signature = try #require(Hexadecimal.decode(P256Tests.publishedSignature))
        let message = Array("sample".utf8)
        for bit in 0..<(8 * signature.count) {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.verify(signatureDER: changed, message: message), "bit \(bit)")
        }
        for count in 0..<signature.count {
            #expect(!key.verify(signatureDER: Array(signature.prefix(count)), message: message))
        }
        #expect(!key.verify(signatureDER: signature + [0], message: message))
    }

    /// The order of the group (FIPS 186-4 §D.1.2.3): numbers from 1 to below it may be signed with.
    static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

    @Test("Two numbers in range, in their shortest form, are well-formed")
    func wellFormed() throws {
        let largest = String(P256Tests.order.dropLast()) + "0"
        for text in [
            "3006020101020101", "3006020101" + "02017f", "3007020101" + "02020080",
            "3046022100\(largest)022100\(largest)",
        ] {
            let bytes = try #require(Hexadecimal.decode(text))
            #expect(ECDSASignature.isWellFormed(bytes), "\(text)")
        }
    }

    @Test("Numbers out of range and other encodings are ill-formed")
    func illFormed() throws {
        let over = String(P256Tests.order.dropLast()) + "2"
        for text in [
            "", "30", "3000", "3003020101", "300602010002" + "0101", "3006020101020100",
            // Negative, and with zeros that say nothing.
            "3006020181020101", "300702020001020101", "300702010102020001",
            // At and over the order.
            "3026022100\(P256Tests.order)020101", "3026022100\(over)020101",
            "3026020101022100\(P256Tests.order)", "302702220001\(P256Tests.order)020101",
            // Long lengths, an indefinite one, something behind, something missing, other tags.
            "308106020101020101", "30800201010201010000", "300602010102010100",
            "3007020101020101", "3005020101020101", "3106020101020101", "3006030101020101",
            "3009020101020101020101", "30060281" + "01010201",
        ] {
            let bytes = try #require(Hexadecimal.decode(text))
            #expect(!ECDSASignature.isWellFormed(bytes), "\(text)")
        }
    }

    @Test("Random bytes are no signature and do no harm")
    func randomSignature() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("DER seed", seed)
        var generator = SplitMix(state: seed)
        let key = try P256Tests.publishedKey()
        let signature = try #require(Hexadecimal.decode(P256Tests.publishedSignature))
        for _ in 0..<2_000 {
            var changed = signature
            for _ in 0...(generator.next() % 4) {
                let at = Int(generator.next() % UInt64(changed.count))
                switch generator.next() % 3 {
                case 0: changed[at] = UInt8(truncatingIfNeeded: generator.next())
                case 1: changed.remove(at: at)
                default: changed.insert(UInt8(truncatingIfNeeded: generator.next()), at: at)
                }
            }
            let isSame = changed == signature
            #expect(
                key.verify(signatureDER: changed, message: Array("sample".utf8)) == isSame,
                "seed \(seed)")
        }
    }

    @Test("A made key signs, goes through its PEM forms, and only its own public half agrees")
    func madeKey() throws {
        let made = P256PrivateKey()
        let again = try P256PrivateKey(pem: made.pem)
        #expect(again.publicKeyPEM == made.publicKeyPEM)
        let publicKey = try P256PublicKey(pem: made.publicKeyPEM)
        #expect(publicKey.pem == made.publicKeyPEM)
        let message = Array("2026-01-01T00:00:00Z::/database".utf8)
        let signature = again.sign(message)
        #expect(publicKey.verify(signatureDER: signature, message: message))
        let other = try P256PublicKey(pem: P256PrivateKey().publicKeyPEM)
        #expect(!other.verify(signatureDER: signature, message: message))
    }

    @Test("A public key in PEM is taken with either line end")
    func lineEnds() throws {
        let pem = P256PrivateKey().publicKeyPEM
        let key = try P256PublicKey(pem: pem)
        let windows = pem.replacingOccurrences(of: "\n", with: "\r\n")
        #expect(try P256PublicKey(pem: windows).der == key.der)
        #expect(try P256PublicKey(pem: String(pem.dropLast())).der == key.der)
    }

    @Test("What is not one public key on prime256v1 is refused by what is wrong with it")
    func refusedKeys() throws {
        let made = P256PrivateKey()
        let pem = made.publicKeyPEM
        #expect(throws: KeyRefusal.wrongLabel) { try P256PublicKey(pem: made.pem) }
        #expect(throws: KeyRefusal.wrongLabel) { try P256PrivateKey(pem: pem) }
        for notPEM in [
            "", "\n", "-----BEGIN PUBLIC KEY-----", pem + pem, "x" + pem, "x\n" + pem, pem + "x\n",
            pem.replacingOccurrences(of: "END PUBLIC", with: "END PRIVATE"),
            pem.replacingOccurrences(of: "M", with: "!"),
        ] {
            #expect(throws: KeyRefusal.notPEM) { try P256PublicKey(pem: notPEM) }
        }
        let point = P256Tests.publishedPoint
        let cut = String(point.dropLast(2))
        let x = String(point.prefix(64))
        let refused: [String] = [
            "", "00", "\(P256Tests.prefix)\(point)00", "\(P256Tests.prefix)\(cut)",
            // A point that is not on the curve.
            "\(P256Tests.prefix)\(cut)98",
            // The compressed form of the same key.
            "3039301306072a8648ce3d020106082a8648ce3d03010703220003\(x)",
            // secp256k1 in place of prime256v1.
            "3056301006072a8648ce3d020106052b8104000a03420004\(point)",
        ]
        for notP256 in refused {
            let der = try #require(Hexadecimal.decode(notP256))
            #expect(throws: KeyRefusal.notP256) { try P256PublicKey(der: der) }
        }
    }

    @Test(
        "A key of another algorithm or curve, as OpenSSL writes it, is refused",
        arguments: [
            // Ed25519 (RFC 8410 §10.1).
            "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="
        ])
    func otherAlgorithms(body: String) {
        let pem = "-----BEGIN PUBLIC KEY-----\n\(body)\n-----END PUBLIC KEY-----\n"
        #expect(throws: KeyRefusal.notP256) { try P256PublicKey(pem: pem) }
    }
}
