import CloudModel
import Cryptography
import Storage

/// What letters have in them that nobody can guess, made anew for each try and always the same.
struct LetterSecrets: Sendable {
    private let key: HMACSHA256

    init(_ secrets: SealedSecrets) {
        key = HMACSHA256(
            key: secrets.derivedKeys(for: SecretSubject(purpose: "letter", owner: ""))[0])
    }

    /// - Parameter use: what it is for: codes for different uses tell nothing of each other.
    func code(of letter: Letter, for use: String, bytes: Int = HMACSHA256.codeBytes) -> [UInt8] {
        // A number comes again, once its letter has left: not at the same time, to the same address.
        let parts = [
            use, "\(letter.number)", "\(letter.madeAt)", letter.purpose.rawValue,
            letter.account?.text ?? "", letter.address.kind.rawValue, letter.address.folded,
        ]
        return key.code(for: Array(parts.joined(separator: "\u{0}").utf8), bytes: bytes)
    }
}
