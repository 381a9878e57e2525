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
        let text = PasswordHash.make(
            Array("correct horse".utf8), random: random,
            costs: PasswordHash.Costs(bits: 15, blockSize: 8, parallelism: 1))
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

    @Test("A text says at which costs it was made, and whether they are those of today")
    func costs() throws {
        let word = Array("correct horse".utf8)
        let standard = try #require(PasswordHash.make(word, random: .system))
        #expect(standard.hasPrefix("scrypt$15$8$3$"))
        let cheap = PasswordHash.Costs(bits: 10, blockSize: 8, parallelism: 1)
        let text = try #require(PasswordHash.make(word, random: .system, costs: cheap))
        #expect(text.hasPrefix("scrypt$10$8$1$"))
        let now = PasswordHash.compare(word, text, wanted: cheap)
        #expect(now?.isMatch == true && now?.isOutdated == false)
        let later = PasswordHash.compare(
            word, text, wanted: PasswordHash.Costs(bits: 10, blockSize: 8, parallelism: 2))
        #expect(later?.isMatch == true && later?.isOutdated == true)
        let nobody = PasswordHash.compare([], nil, wanted: cheap)
        #expect(nobody?.isMatch == false && nobody?.isOutdated == false)
    }

    @Test(
        "A text of costs that nobody can bear matches nothing, at once",
        arguments: ["21$8$1", "20$32$1", "15$8$17", "7$8$1", "-1$8$1", "15$0$1", "15$8$0"])
    func unbearable(costs: String) {
        let hash = PasswordHashTests.kept.split(separator: "$").suffix(2).joined(separator: "$")
        #expect(!PasswordHash.matches(Array("correct horse".utf8), "scrypt$\(costs)$\(hash)"))
    }
}
