import CloudModel
import Cryptography
import Storage

/// Makes the addresses of shares, and knows the secrets of one-time links (rulings.md 49).
package struct ShareAddresses: Sendable {
    private static let secretBytes = 16

    private let key: HMACSHA256
    private let base: String

    /// - Parameters:
    ///   - key: the store's token key, 32 random bytes.
    ///   - base: where browsers reach the server, without a slash at the end.
    package init(key: [UInt8], base: String) {
        self.key = HMACSHA256(
            key: HMACSHA256(key: key).code(for: Array("one-time share links".utf8)))
        self.base = base
    }

    private init(key: HMACSHA256, base: String) {
        self.key = key
        self.base = base
    }

    /// The same addresses for a server that is reached at another base.
    package func below(_ base: String) -> ShareAddresses { ShareAddresses(key: key, base: base) }

    /// A one-time address, for the first person who uses it.
    func oneTime(_ guid: ShortGUID, _ participant: StoredParticipant) -> String {
        let secret = Base64.encode(code(guid, participant), .urlSafe)
        return "\(base)/share/\(guid.text)~\(secret)"
    }

    /// The participant that has a secret, whether the link was used or not; nil for none.
    ///
    /// Compares with all of them and takes the same time whichever it is.
    func participant(
        of secret: String, _ guid: ShortGUID, among participants: [StoredParticipant]
    ) -> StoredParticipant? {
        let given = Base64.decode(secret, .urlSafe) ?? []
        var found: StoredParticipant?
        for participant in participants {
            if ConstantTime.areEqual(given, code(guid, participant)) { found = participant }
        }
        return found
    }

    private func code(_ guid: ShortGUID, _ participant: StoredParticipant) -> [UInt8] {
        key.code(for: Array("\(guid.text) \(participant.id)".utf8), bytes: Self.secretBytes)
    }
}
