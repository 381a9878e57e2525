import Cryptography
import Testing

@Suite("Kept passwords")
struct PasswordHashTests {
    /// Made with another implementation of scrypt: N = 32768, r = 8, p = 1, salt 00 to 0f.
    static let kept =
        "scrypt$15$8$1$AAECAwQFBgcICQoLDA0ODw==$XGYmKKxOsQaKKH4qoqICriSOmNsE1h0zJ+c0LbbscJc="

    @Test("The kept text is scrypt's, with the salt that was drawn")
    func made() {
        let random = RandomSource { Array(0..<UInt8($0)) }
        let text = PasswordHash.make(Array("correct horse".utf8), random: random)
        #expect(text == PasswordHashTests.kept)
    }

    @Test("Only the password matches its kept text")
    func matches() {
        let kept = PasswordHashTests.kept
        #expect(PasswordHash.matches(Array("correct horse".utf8), kept))
        #expect(!PasswordHash.matches(Array("Correct horse".utf8), kept))
        #expect(!PasswordHash.matches([], kept))
    }

    @Test(
        "A kept text of any other form matches nothing",
        arguments: [
            "", "scrypt", "scrypt$$$$$", "scrypt$15$8$1$AAECAwQFBgcICQoLDA0ODw==$",
            "scrypt$10$8$1$AAECAwQFBgcICQoLDA0ODw==$AAAA", "plain$correct horse",
            "scrypt$15$8$1$!$AAAA", "scrypt$99999999999999999999$8$1$AA==$AA==",
        ])
    func otherForms(text: String) {
        #expect(!PasswordHash.matches(Array("correct horse".utf8), text))
    }

    @Test("A password over the limit is neither kept nor matched")
    func limit() {
        let long = [UInt8](repeating: 1, count: PasswordHash.passwordBytesMax + 1)
        #expect(PasswordHash.make(long, random: .system) == nil)
        #expect(!PasswordHash.matches(long, PasswordHashTests.kept))
    }
}
