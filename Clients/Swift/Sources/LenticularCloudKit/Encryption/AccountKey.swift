import CloudKitTransport
import Foundation

/// The key of one account in one container, which encrypts values on the device.
///
/// The server never has it: it keeps it wrapped, by a passphrase or a recovery code.
struct AccountKey: Equatable, Sendable {
    let bytes: [UInt8]

    static func random() -> AccountKey {
        AccountKey(bytes: SealedBytes.random(SealedBytes.keyBytes))
    }

    /// Tells keys apart without telling anything of them.
    var id: [UInt8] { Array(SHA256Digest.of(Array("lenticular key ".utf8) + bytes).prefix(8)) }
}

/// What an encrypted value belongs to: moved anywhere else it does not open.
struct ValueContext: Sendable {
    let container: String
    let owner: String
    let record: CKRecord.ID
    let recordType: String
    let key: CKRecord.FieldKey

    /// - Parameter user: the caller's user record name, where it is known.
    init(
        _ record: CKRecord, _ key: CKRecord.FieldKey, in container: String, user: String?
    ) {
        self.container = container
        let owner = record.recordID.zoneID.ownerName
        self.owner = owner == CKCurrentUserDefaultName ? user ?? owner : owner
        self.record = record.recordID
        recordType = record.recordType
        self.key = key
    }

    /// Each part with its length before it, so that no two places have the same bytes.
    var bytes: [UInt8] {
        let parts = [
            container, owner, record.zoneID.zoneName, recordType, record.recordName, key,
        ]
        return parts.flatMap { part -> [UInt8] in
            let text = Array(part.utf8)
            return withUnsafeBytes(of: UInt32(text.count).bigEndian, Array.init) + text
        }
    }
}

/// Encrypts and decrypts the values of one account.
struct ValueCipher: Sendable {
    private static let version: UInt8 = 1
    private static let headBytes = 1 + 8

    let key: AccountKey

    /// - Returns: version, the key's ID, nonce, ciphertext and tag.
    func seal(_ value: FieldValue, at place: ValueContext) throws -> [UInt8] {
        let head = [Self.version] + key.id
        return head
            + (try SealedBytes.seal(
                ValueText.bytes(of: value), key: key.bytes, associated: head + place.bytes))
    }

    /// - Returns: nil for what another key has made, what was moved, and what was changed.
    func open(_ sealed: [UInt8], at place: ValueContext) -> FieldValue? {
        let head = Array(sealed.prefix(Self.headBytes))
        guard head == [Self.version] + key.id else { return nil }
        let text = try? SealedBytes.open(
            Array(sealed.dropFirst(Self.headBytes)), key: key.bytes,
            associated: head + place.bytes)
        return text.flatMap { ValueText.value(of: $0, in: place.record.zoneID) }
    }
}
