import CloudKitTransport
import Foundation

/// An account's key as the server keeps it: wrapped by a recovery code, and by a passphrase if there is one.
struct WrappedKey {
    static let zone = CKRecordZone.ID.keys
    static let recordID = CKRecord.ID(recordName: "account-key", zoneID: zone)
    /// Half a second and 128 MiB for each guess.
    private static let cost: Int64 = 1 << 17
    private static let costMax: Int64 = 1 << 20

    private let salt: [UInt8]
    private let cost: Int64
    private let byPassphrase: [UInt8]?
    private let byCode: [UInt8]

    /// - Returns: nil for a record that holds no key.
    init?(_ record: CKRecord) {
        guard let salt = record["salt"] as? Data, let cost = record["cost"] as? Int64,
            let byCode = record["byCode"] as? Data, (2...Self.costMax).contains(cost),
            cost & (cost - 1) == 0
        else { return nil }
        self.salt = [UInt8](salt)
        self.cost = cost
        byPassphrase = (record["byPassphrase"] as? Data).map { [UInt8]($0) }
        self.byCode = [UInt8](byCode)
    }

    /// The record of a new key.
    static func record(of held: HeldKey, passphrase: String?) throws -> CKRecord {
        let record = CKRecord(recordType: "LenticularKey", recordID: recordID)
        let salt = SealedBytes.random(16)
        record["salt"] = Data(salt)
        record["cost"] = cost
        if let code = held.code {
            record["byCode"] = Data(
                try SealedBytes.seal(held.key.bytes, key: code.key, associated: salt))
        }
        if let passphrase { try set(passphrase, of: held.key, salt, cost, in: record) }
        return record
    }

    /// Wraps a key by another passphrase, in the record that it was read from.
    func rewrap(_ key: AccountKey, passphrase: String, in record: CKRecord) throws {
        try Self.set(passphrase, of: key, salt, cost, in: record)
    }

    private static func set(
        _ passphrase: String, of key: AccountKey, _ salt: [UInt8], _ cost: Int64,
        in record: CKRecord
    ) throws {
        let slow = try SealedBytes.key(from: passphrase, salt: salt, cost: UInt64(cost))
        record["byPassphrase"] = Data(
            try SealedBytes.seal(key.bytes, key: slow, associated: salt))
    }

    /// - Throws: `SealedBytes.Unreadable` for a wrong passphrase, or where there is none.
    func key(passphrase: String) throws -> AccountKey {
        guard let byPassphrase else { throw SealedBytes.Unreadable() }
        let slow = try SealedBytes.key(from: passphrase, salt: salt, cost: UInt64(cost))
        return AccountKey(
            bytes: try SealedBytes.open(byPassphrase, key: slow, associated: salt))
    }

    /// - Throws: `SealedBytes.Unreadable` for a wrong code.
    func key(code: RecoveryCode) throws -> AccountKey {
        AccountKey(bytes: try SealedBytes.open(byCode, key: code.key, associated: salt))
    }
}
