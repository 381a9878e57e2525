import CloudKitTransport
import Foundation

/// What opens a key when its passphrase is lost: about 160 random bits as letters and digits.
struct RecoveryCode: Equatable, Sendable {
    /// 32 of them, without letters that are taken for digits.
    private static let letters = Array("ABCDEFGHJKMNPQRSTVWXYZ0123456789")
    let text: String

    static func random() -> RecoveryCode {
        let groups = (0..<8).map { _ in
            String(SealedBytes.random(4).map { letters[Int($0) % letters.count] })
        }
        return RecoveryCode(groups.joined(separator: "-"))
    }

    init(_ text: String) { self.text = text }

    /// The same however the code is typed: case and what stands between the letters do not count.
    var key: [UInt8] {
        let typed = text.uppercased().filter { $0.isLetter || $0.isNumber }
        return SHA256Digest.of(Array("lenticular recovery \(typed)".utf8))
    }
}

/// A key as a device keeps it.
struct HeldKey: Equatable, Sendable {
    let key: AccountKey
    /// What opens the key elsewhere; nil where the key was unlocked by a passphrase.
    let code: RecoveryCode?

    init(key: AccountKey, code: RecoveryCode?) {
        self.key = key
        self.code = code
    }

    /// The key's bytes, then the recovery code where it is known.
    var stored: Data { Data(key.bytes + Array((code?.text ?? "").utf8)) }

    /// - Returns: nil for fewer bytes than a key has.
    init?(stored: Data) {
        guard stored.count >= SealedBytes.keyBytes else { return nil }
        let code = stored.dropFirst(SealedBytes.keyBytes)
        self.init(
            key: AccountKey(bytes: [UInt8](stored.prefix(SealedBytes.keyBytes))),
            code: code.isEmpty ? nil : RecoveryCode(String(decoding: code, as: UTF8.self)))
    }
}
