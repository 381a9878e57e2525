import Foundation

/// The fields of a record that are encrypted on the device.
final class EncryptedValues: CKRecordKeyValueSetting {
    private(set) var values: [CKRecord.FieldKey: FieldValue] = [:]
    private(set) var changed: Set<CKRecord.FieldKey> = []

    func object(forKey key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
        values[key]?.object
    }

    /// - Precondition: as for a record; references and assets cannot be encrypted.
    func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: CKRecord.FieldKey) {
        precondition(
            FieldKeyName.isLegal(key),
            "key \"\(key)\": expected a letter, then letters, digits and _")
        changed.insert(key)
        guard let object else {
            values[key] = nil
            return
        }
        guard let value = FieldValue(object), value.canBeEncrypted else {
            preconditionFailure(
                "key \"\(key)\": text, numbers, dates, data, places and lists of them can be "
                    + "encrypted, \(type(of: object)) cannot")
        }
        values[key] = value
    }

    func allKeys() -> [CKRecord.FieldKey] { Array(values.keys) }

    func changedKeys() -> [CKRecord.FieldKey] { Array(changed) }

    /// Takes a value as it was fetched; one that could not be opened reads nil.
    func opened(_ value: FieldValue?, forKey key: CKRecord.FieldKey) { values[key] = value }

    func adopt(_ other: EncryptedValues) {
        values = other.values
        changed = other.changed
    }

    func becomeSaved() { changed = [] }

    // MARK: - Archives

    /// Writes the values in the clear, as the record's others: an archive is the app's, to keep as it likes.
    func encode(with coder: NSCoder) {
        coder.encode(values, as: "Encrypted")
        coder.encode(names: changed.sorted(), as: "ChangedEncryptedKeys")
    }

    func decode(from coder: NSCoder) {
        values = coder.fieldValues("Encrypted")
        changed = Set(coder.names("ChangedEncryptedKeys"))
    }
}

extension FieldValue {
    fileprivate var canBeEncrypted: Bool {
        switch self {
        case .reference, .asset: false
        case .list(let members, _): members.allSatisfy(\.canBeEncrypted)
        default: true
        }
    }
}
