import Cryptography
import Identity
import JSON
import Seeding
import Testing

@Suite("Passkeys")
struct PasskeyTests {
    /// Of the test vectors of the WebAuthn specification (level 3, §16.2): ES256, no attestation.
    private enum Published {
        static let registrationChallenge =
            "00c30fb78531c464d2b6771dab8d7b603c01162f2fa486bea70f283ae556e130"
        static let registrationClientData =
            "7b2274797065223a22776562617574686e2e637265617465222c226368616c6c656e6765223a2241"
            + "4d4d507434557878475453746e63647134313759447742466938767049612d7077386f4f75565734"
            + "5441222c226f726967696e223a2268747470733a2f2f6578616d706c652e6f7267222c2263726f73"
            + "734f726967696e223a66616c73652c22657874726144617461223a22636c69656e74446174614a53"
            + "4f4e206d617920626520657874656e6465642077697468206164646974696f6e616c206669656c64"
            + "7320696e20746865206675747572652c207375636820617320746869733a20426b5165446a646354"
            + "427258426941774a544c453551227d"
        static let attestationObject =
            "a363666d74646e6f6e656761747453746d74a068617574684461746158a4bfabc37432958b063360"
            + "d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b559000000008446ccb9ab1db374750b2367ff"
            + "6f3a1f0020f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33ad94ff3ec330084be4a50102"
            + "03262001215820afefa16f97ca9b2d23eb86ccb64098d20db90856062eb249c33a9b672f26df6122"
            + "5820930a56b87a2fca66334b03458abf879717c12cc68ed73290af2e2664796b9220"
        static let credential = "f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33ad94ff3ec330084be4"
        static let challenge = "39c0e7521417ba54d43e8dc95174f423dee9bf3cd804ff6d65c857c9abf4d408"
        static let clientData =
            "7b2274797065223a22776562617574686e2e676574222c226368616c6c656e6765223a224f63446e"
            + "55685158756c5455506f334a5558543049393770767a7a59425039745a6368587961763031416722"
            + "2c226f726967696e223a2268747470733a2f2f6578616d706c652e6f7267222c2263726f73734f72"
            + "6967696e223a66616c73657d"
        static let authenticatorData =
            "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b51900000000"
        static let signature =
            "3046022100f50a4e2e4409249c4a853ba361282f09841df4dd4547a13a87780218deffcd380221008480"
            + "ac0f0b93538174f575bf11a1dd5d78c6e486013f937295ea13653e331e87"
    }

    private func bytes(_ text: String) throws -> [UInt8] { try #require(Hexadecimal.decode(text)) }

    private func ceremony(
        _ challenge: String, relyingParty: String = "example.org",
        origin: String = "https://example.org", verifies: Bool = false
    ) throws -> PasskeyCeremony {
        PasskeyCeremony(
            challenge: try bytes(challenge), relyingParty: relyingParty, origins: [origin],
            requiresVerification: verifies)
    }

    private func registered() throws -> Passkey {
        try ceremony(Published.registrationChallenge).register(
            clientData: bytes(Published.registrationClientData),
            attestationObject: bytes(Published.attestationObject))
    }

    private func use(
        _ ceremony: PasskeyCeremony, clientData: [UInt8]? = nil, data: [UInt8]? = nil,
        signature: [UInt8]? = nil
    ) throws -> PasskeyUse {
        try ceremony.authenticate(
            clientData: clientData ?? bytes(Published.clientData),
            authenticatorData: data ?? bytes(Published.authenticatorData),
            signature: signature ?? bytes(Published.signature), key: registered().key,
            signCount: 0)
    }

    @Test("The published passkey is registered and used")
    func published() throws {
        let passkey = try registered()
        #expect(Hexadecimal.encode(passkey.id) == Published.credential)
        #expect(Hexadecimal.encode(passkey.model) == "8446ccb9ab1db374750b2367ff6f3a1f")
        #expect(passkey.signCount == 0)
        #expect(passkey.isBackupEligible && passkey.isBackedUp && !passkey.isUserVerified)
        #expect(PasskeyPublicKey(cose: passkey.key.cose) != nil)
        let use = try use(ceremony(Published.challenge))
        #expect(use.signCount == 0 && use.isBackedUp && !use.isUserVerified)
    }

    @Test("Another challenge, page, server or purpose is another ceremony")
    func otherCeremony() throws {
        #expect(throws: PasskeyRefusal.otherCeremony("challenge")) {
            try use(ceremony(Published.registrationChallenge))
        }
        #expect(throws: PasskeyRefusal.otherCeremony("origin")) {
            try use(ceremony(Published.challenge, origin: "https://example.org.evil"))
        }
        #expect(throws: PasskeyRefusal.otherCeremony("relying party")) {
            try use(ceremony(Published.challenge, relyingParty: "example.com"))
        }
        #expect(throws: PasskeyRefusal.otherCeremony("type")) {
            try ceremony(Published.challenge).register(
                clientData: bytes(Published.clientData),
                attestationObject: bytes(Published.attestationObject))
        }
        #expect(throws: PasskeyRefusal.userAbsent) {
            try use(ceremony(Published.challenge, verifies: true))
        }
    }

    /// An authenticator of the test's own, with a key of either kind.
    private struct Authenticator {
        let key = P256PrivateKey()
        let challenge = [UInt8](repeating: 7, count: 32)

        var ceremony: PasskeyCeremony {
            PasskeyCeremony(
                challenge: challenge, relyingParty: "localhost",
                origins: ["http://localhost:8080"], requiresVerification: true)
        }

        var cose: [UInt8] {
            let point = key.publicKey.point
            return [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + point[1..<33]
                + [0x22, 0x58, 0x20] + point[33...]
        }

        func clientData(_ type: String, more: String = "") -> [UInt8] {
            Array(
                ("{\"type\":\"\(type)\",\"challenge\":\"\(Base64.encode(challenge, .urlSafe))\","
                    + "\"origin\":\"http://localhost:8080\"\(more)}").utf8)
        }

        func data(
            flags: UInt8, count: UInt8 = 0, rest: [UInt8] = [], host: String = "localhost"
        ) -> [UInt8] {
            SHA256.digest(Array(host.utf8)) + [flags, 0, 0, 0, count] + rest
        }

        func credential(_ cose: [UInt8]? = nil, idCount: Int = 16) -> [UInt8] {
            [UInt8](repeating: 0, count: 16) + [UInt8(idCount >> 8), UInt8(idCount & 255)]
                + [UInt8](repeating: 3, count: idCount) + (cose ?? self.cose)
        }

        func object(
            _ data: [UInt8], format: String = "none", statement: [UInt8] = [0xA0]
        )
            -> [UInt8]
        {
            [0xA3, 0x63] + Array("fmt".utf8) + [0x60 + UInt8(format.utf8.count)]
                + Array(format.utf8) + [0x67] + Array("attStmt".utf8) + statement + [0x68]
                + Array("authData".utf8) + [0x59, UInt8(data.count >> 8), UInt8(data.count & 255)]
                + data
        }

        func register(_ object: [UInt8], more: String = "") throws -> Passkey {
            try ceremony.register(
                clientData: clientData("webauthn.create", more: more), attestationObject: object)
        }

        func use(_ data: [UInt8], count: UInt32, key: PasskeyPublicKey) throws -> PasskeyUse {
            let clientData = clientData("webauthn.get")
            let signature = self.key.sign(data + SHA256.digest(clientData))
            return try ceremony.authenticate(
                clientData: clientData, authenticatorData: data, signature: signature, key: key,
                signCount: count)
        }
    }

    @Test("A counter has to go on; authenticators that do not count stay at zero")
    func counter() throws {
        let device = Authenticator()
        let passkey = try device.register(
            device.object(device.data(flags: 0x45, count: 5, rest: device.credential())))
        #expect(passkey.signCount == 5)
        #expect(passkey.isUserVerified)
        #expect(
            try device.use(device.data(flags: 5, count: 6), count: 5, key: passkey.key).signCount
                == 6)
        for count in [0, 4, 5] as [UInt8] {
            #expect(throws: PasskeyRefusal.counterStalled) {
                try device.use(device.data(flags: 5, count: count), count: 5, key: passkey.key)
            }
        }
        #expect(try device.use(device.data(flags: 5), count: 0, key: passkey.key).signCount == 0)
    }

    @Test("Without somebody there, or without their being asked for, nobody is let in")
    func flags() throws {
        let device = Authenticator()
        let key = try #require(PasskeyPublicKey(cose: device.cose))
        for flags in [0x00, 0x01, 0x04] as [UInt8] {
            #expect(throws: PasskeyRefusal.userAbsent) {
                try device.use(device.data(flags: flags), count: 0, key: key)
            }
        }
        // Backed up, but not eligible.
        #expect(throws: PasskeyRefusal.malformed("backed up, but not eligible")) {
            try device.use(device.data(flags: 0x15), count: 0, key: key)
        }
    }

    @Test("A statement of attestation is passed over, but none may not have one")
    func attestation() throws {
        let device = Authenticator()
        let data = device.data(flags: 0x45, rest: device.credential())
        let statement: [UInt8] = [0xA1, 0x63] + Array("sig".utf8) + [0x41, 0x00]
        _ = try device.register(device.object(data, format: "packed", statement: statement))
        #expect(throws: PasskeyRefusal.self) {
            try device.register(device.object(data, statement: statement))
        }
    }

    @Test("A page in somebody else's frame, and bytes behind the end, are refused")
    func refusals() throws {
        let device = Authenticator()
        let data = device.data(flags: 0x45, rest: device.credential())
        _ = try device.register(device.object(data), more: ",\"crossOrigin\":false")
        for more in [",\"crossOrigin\":true", ",\"topOrigin\":\"http://x\""] {
            #expect(throws: PasskeyRefusal.otherCeremony("crossOrigin")) {
                try device.register(device.object(data), more: more)
            }
        }
        #expect(throws: PasskeyRefusal.self) { try device.register(device.object(data) + [0]) }
        #expect(throws: PasskeyRefusal.malformed("bytes behind the end")) {
            try device.register(device.object(data + [0]))
        }
        let extended = device.data(flags: 0xC5, rest: device.credential() + [0xA0])
        _ = try device.register(device.object(extended))
        let long = device.data(flags: 0x45, rest: device.credential(idCount: 1_024))
        #expect(throws: PasskeyRefusal.malformed("the credential's id")) {
            try device.register(device.object(long))
        }
        #expect(throws: PasskeyRefusal.malformed("no credential")) {
            try device.register(device.object(device.data(flags: 0x05)))
        }
    }

    @Test("Keys of other kinds, curves and sizes are refused")
    func keys() throws {
        let device = Authenticator()
        var otherAlgorithm = device.cose
        otherAlgorithm[4] = 0x27
        var otherCurve = device.cose
        otherCurve[6] = 0x02
        var offCurve = device.cose
        offCurve[offCurve.count - 1] ^= 1
        for cose in [otherAlgorithm, otherCurve, offCurve] {
            let data = device.data(flags: 0x45, rest: device.credential(cose))
            #expect(throws: PasskeyRefusal.unsupportedKey) {
                try device.register(device.object(data))
            }
        }
        // RSA of 1,024 bits.
        let short: [UInt8] =
            [0xA4, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00, 0x20, 0x58, 0x80]
            + [UInt8](repeating: 0xFF, count: 128) + [0x21, 0x43, 0x01, 0x00, 0x01]
        #expect(PasskeyPublicKey(cose: short) == nil)
        let long: [UInt8] =
            [0xA4, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00, 0x20, 0x59, 0x01, 0x00]
            + [UInt8](repeating: 0xFF, count: 256) + [0x21, 0x43, 0x01, 0x00, 0x01]
        #expect(PasskeyPublicKey(cose: long) != nil)
        #expect(PasskeyPublicKey(cose: long + [0]) == nil)
    }

    @Test("Whatever is changed in what an authenticator sends, nobody is let in and nothing breaks")
    func random() throws {
        var random = SeededRandom("passkeys")
        let device = Authenticator()
        let data = device.data(flags: 0xC5, rest: device.credential() + [0xA1, 0x61, 0x61, 0xF5])
        let object = device.object(data)
        let key = try device.register(object).key
        let used = device.data(flags: 5, count: 1)
        let clientData = device.clientData("webauthn.get")
        let signature = device.key.sign(used + SHA256.digest(clientData))
        for _ in 0..<20_000 {
            var changed = object
            for _ in 0...random.below(3) {
                switch random.below(3) {
                case 0: changed[random.below(changed.count)] = UInt8(random.below(256))
                case 1: changed.remove(at: random.below(changed.count))
                default:
                    changed.insert(UInt8(random.below(256)), at: random.below(changed.count))
                }
            }
            // NB: some changes, such as to the id, make another passkey that is as good.
            _ = try? device.register(changed)
        }
        for _ in 0..<2_000 {
            var (data, sent, proof) = (used, clientData, signature)
            switch random.below(3) {
            case 0: data[random.below(data.count)] ^= 1 << UInt8(random.below(8))
            case 1: sent[random.below(sent.count)] ^= 1 << UInt8(random.below(8))
            default: proof[random.below(proof.count)] ^= 1 << UInt8(random.below(8))
            }
            #expect(throws: PasskeyRefusal.self) {
                try device.ceremony.authenticate(
                    clientData: sent, authenticatorData: data, signature: proof, key: key,
                    signCount: 0)
            }
        }
    }

    @Test("Deep, long and unfinished CBOR is refused in no time")
    func hostile() throws {
        let device = Authenticator()
        let deep = [UInt8](repeating: 0x81, count: 16_000)
        let wide: [UInt8] = [0x9A, 0xFF, 0xFF, 0xFF, 0xFF]
        let huge: [UInt8] = [0x5B] + [UInt8](repeating: 0xFF, count: 8)
        let unending: [UInt8] = [0x9F, 0x01, 0xFF]
        for object in [deep, wide, huge, unending, [], [0xBF], [0xF9, 0x00]] {
            #expect(throws: PasskeyRefusal.self) { try device.register(object) }
            #expect(PasskeyPublicKey(cose: object) == nil)
        }
    }
}
