import Cryptography
import Seeding
import Testing

@Suite("Secrets that are read back")
struct SealedSecretsTests {
    private static let key = [UInt8](0..<32)
    private static let subject = SecretSubject(purpose: "totp", owner: "account-1")

    private func sealing(
        _ keys: [[UInt8]] = [key], _ random: RandomSource = .system
    ) throws -> SealedSecrets {
        try #require(SealedSecrets(keys: keys, random: random))
    }

    @Test("A secret comes back as it was, of any length, and its sealed form never repeats")
    func roundTrip() throws {
        let secrets = try sealing()
        for count in [0, 1, 20, 4_096] {
            let secret = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let first = secrets.seal(secret, for: Self.subject)
            #expect(first.count == count + SealedSecrets.overheadBytes)
            #expect(try secrets.open(first, for: Self.subject) == secret)
            #expect(secrets.seal(secret, for: Self.subject) != first)
        }
    }

    @Test("A secret opens for its own purpose and owner alone")
    func subject() throws {
        let secrets = try sealing()
        let sealed = secrets.seal([1, 2, 3], for: Self.subject)
        let others = [
            SecretSubject(purpose: "totp", owner: "account-2"),
            SecretSubject(purpose: "smtp", owner: "account-1"),
            // The same letters, otherwise divided.
            SecretSubject(purpose: "tot", owner: "paccount-1"),
            SecretSubject(purpose: "totpaccount-1", owner: ""),
        ]
        for other in others {
            #expect(throws: SecretRefusal.notAuthentic) { try secrets.open(sealed, for: other) }
        }
    }

    @Test("The first key seals, all of them open, and what another key has sealed says so")
    func keys() throws {
        let old = try sealing()
        let fresh = [UInt8](repeating: 9, count: 32)
        let both = try sealing([fresh, Self.key])
        let before = old.seal([7], for: Self.subject)
        #expect(try both.open(before, for: Self.subject) == [7])
        #expect(both.isStale(before))
        let after = both.seal([7], for: Self.subject)
        #expect(!both.isStale(after))
        #expect(throws: SecretRefusal.otherKey) { try old.open(after, for: Self.subject) }
        #expect(old.keyNames == Array(both.keyNames.dropFirst()))
        #expect(SealedSecrets(keys: [], random: .system) == nil)
        #expect(SealedSecrets(keys: [Self.key, [1]], random: .system) == nil)
    }

    @Test("Whatever is changed, cut or made up opens nothing")
    func changed() throws {
        var random = SeededRandom("changed secrets")
        let secrets = try sealing()
        let sealed = secrets.seal(Array("a secret".utf8), for: Self.subject)
        for index in sealed.indices {
            var other = sealed
            other[index] ^= 1 << UInt8(random.below(8))
            #expect(throws: SecretRefusal.self) { try secrets.open(other, for: Self.subject) }
            #expect(throws: SecretRefusal.self) {
                try secrets.open(Array(sealed[..<index]), for: Self.subject)
            }
        }
        for _ in 0..<1_000 {
            let noise = (0..<random.below(80)).map { _ in UInt8(random.below(256)) }
            #expect(throws: SecretRefusal.self) { try secrets.open(noise, for: Self.subject) }
        }
    }
}
