import Accounts
import CloudModel
import Cryptography
import Testing

@Suite("Codes of authenticator apps, and codes for who has lost theirs")
struct SecondFactorTests {
    /// The secret of RFC 6238, appendix B.
    private static let published = TimeCodes(secret: Array("12345678901234567890".utf8))

    @Test(
        "The codes are those that RFC 6238 publishes",
        arguments: [
            (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"),
            (1_234_567_890, "89005924"), (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
        ] as [(Milliseconds, String)])
    func published(seconds: Milliseconds, code: String) {
        let step = TimeCodes.step(at: seconds * 1_000)
        #expect(Self.published.code(ofStep: step, digits: 8) == code)
        #expect(Self.published.code(ofStep: step) == String(code.suffix(6)))
    }

    @Test("A code counts in its step, the one before and the one after, and in no other")
    func skew() {
        let now: Milliseconds = 1_700_000_000_000
        let step = TimeCodes.step(at: now)
        for distance in Int64(-4)...4 {
            let code = Self.published.code(ofStep: step + distance)
            let found = Self.published.step(of: code, at: now, after: nil)
            #expect(found == (abs(distance) <= 1 ? step + distance : nil), "\(distance)")
        }
        #expect(Self.published.step(of: "", at: now, after: nil) == nil)
        #expect(Self.published.step(of: "000000", at: now, after: nil) == nil)
    }

    @Test("A code counts once, and so do those before it")
    func once() throws {
        let now: Milliseconds = 1_700_000_000_000
        let step = TimeCodes.step(at: now)
        let code = Self.published.code(ofStep: step)
        let spaced = "\(code.prefix(3)) \(code.suffix(3))"
        let used = try #require(Self.published.step(of: spaced, at: now, after: nil))
        #expect(Self.published.step(of: code, at: now, after: used) == nil)
        let before = Self.published.code(ofStep: step - 1)
        #expect(Self.published.step(of: before, at: now, after: used) == nil)
        let next = Self.published.code(ofStep: step + 1)
        #expect(Self.published.step(of: next, at: now, after: used) == step + 1)
    }

    @Test("The address for an app has the secret, and names that cannot break out of it")
    func address() {
        let address = Self.published.address(issuer: "Notes & Co", account: "a?b@example.com")
        #expect(
            address
                == "otpauth://totp/Notes%20%26%20Co:a%3Fb%40example.com"
                + "?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Notes%20%26%20Co"
                + "&algorithm=SHA1&digits=6&period=30")
        #expect(TimeCodes.makeSecret(.system).count == 20)
    }

    @Test("A recovery code counts once, however it is typed, and for its own account only")
    func recovery() throws {
        let (shown, digests) = RecoveryCodes.make(owner: "a", random: .system)
        #expect(shown.count == RecoveryCodes.count && Set(shown).count == shown.count)
        #expect(digests.count == shown.count)
        let typed = shown[3].uppercased().replacing("-", with: " ")
            .replacing("O", with: "0").replacing("L", with: "1").replacing("B", with: "8")
        #expect(RecoveryCodes.use(typed, of: digests, owner: "b") == nil)
        let rest = try #require(RecoveryCodes.use(typed, of: digests, owner: "a"))
        #expect(rest.count == digests.count - 1)
        #expect(RecoveryCodes.use(shown[3], of: rest, owner: "a") == nil)
        #expect(RecoveryCodes.use(shown[4], of: rest, owner: "a") != nil)
        for wrong in ["", "aaaa-aaaa-aaaa-aaaa", String(repeating: "-", count: 10_000)] {
            #expect(RecoveryCodes.use(wrong, of: digests, owner: "a") == nil)
        }
    }
}
