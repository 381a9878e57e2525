/// Names one record within its zone.
///
/// Legal: 1 to 255 printable ASCII characters (web-services.md §7). Names that start with `_` are the
/// server's own.
package struct RecordName: Hashable, Sendable {
    package let text: String

    package static let bytesMax = 255

    package init?(_ text: String) {
        guard isPrintableName(text, bytesMax: RecordName.bytesMax) else { return nil }
        self.text = text
    }

    /// The share of a whole zone.
    package static let zoneShare = RecordName(known: "cloudkit.zoneshare")

    private init(known text: String) { self.text = text }

    /// Whether only the server may make records of this name.
    package var isReserved: Bool { text.utf8.first == UInt8(ascii: "_") }
}

/// Names one zone within its owner's data.
///
/// Legal: as `RecordName`; of the names that start with `_` only `_defaultZone` exists.
package struct ZoneName: Hashable, Sendable {
    package let text: String

    /// The zone that every database but the shared one has without being asked.
    package static let defaultZone = ZoneName(known: "_defaultZone")

    package init?(_ text: String) {
        guard isPrintableName(text, bytesMax: RecordName.bytesMax) else { return nil }
        guard text.utf8.first != UInt8(ascii: "_") || text == ZoneName.defaultZone.text else {
            return nil
        }
        self.text = text
    }

    private init(known text: String) { self.text = text }

    package var isDefault: Bool { self == .defaultZone }
}

/// Names one kind of record: a letter, then letters, digits and `_`; at most 255 characters.
///
/// Names with a leading `_` and the two built-in types are the server's own (web-services.md §7).
package struct RecordTypeName: Hashable, Sendable {
    package let text: String

    package static let users = RecordTypeName(known: "Users")
    package static let share = RecordTypeName(known: "cloudkit.share")

    package init?(_ text: String) {
        guard isIdentifier(text) || text == RecordTypeName.share.text else { return nil }
        self.text = text
    }

    private init(known text: String) { self.text = text }
}

/// Names one field of a record type: a letter, then letters, digits and `_`; at most 255 characters.
///
/// Shares have three fields of other names.
package struct FieldName: Hashable, Sendable {
    package let text: String

    /// Of `Users`: the roles that a user has.
    package static let roles = FieldName(known: "roles")
    package static let shareTitle = FieldName(known: "cloudkit.title")
    package static let shareType = FieldName(known: "cloudkit.type")
    package static let shareThumbnail = FieldName(known: "cloudkit.thumbnailImageData")
    private static let ofShares = [shareTitle, shareType, shareThumbnail]

    package init?(_ text: String) {
        guard isIdentifier(text) || FieldName.ofShares.contains(where: { $0.text == text }) else {
            return nil
        }
        self.text = text
    }

    private init(known text: String) { self.text = text }

    /// Whether only shares have such a field.
    package var isOfShares: Bool { FieldName.ofShares.contains(self) }
}

/// Names one user or server key within one container: `_` and 32 lower-case hex digits.
package struct UserRecordName: Hashable, Sendable {
    package let text: String

    /// The name of the owner of the public database in answers (rulings.md 15).
    package static let publicOwner = UserRecordName(known: "_defaultOwner")

    package init?(_ text: String) {
        guard text.utf8.count == 33, text.utf8.first == UInt8(ascii: "_") else { return nil }
        var text = text
        let isHexadecimal = text.withUTF8 { bytes in
            bytes.dropFirst().allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"):
                    true
                default: false
                }
            }
        }
        guard isHexadecimal else { return nil }
        self.text = text
    }

    private init(known text: String) { self.text = text }
}

private func isPrintableName(_ text: String, bytesMax: Int) -> Bool {
    guard (1...bytesMax).contains(text.utf8.count) else { return false }
    var text = text
    return text.withUTF8 { bytes in bytes.allSatisfy { (0x20...0x7e).contains($0) } }
}

func isIdentifier(_ text: String) -> Bool {
    guard (1...255).contains(text.utf8.count) else { return false }
    var text = text
    return text.withUTF8 { bytes in
        guard let first = bytes.first, isLetter(first) else { return false }
        return bytes.dropFirst().allSatisfy { byte in
            isLetter(byte) || (byte &- UInt8(ascii: "0")) < 10 || byte == UInt8(ascii: "_")
        }
    }
}

private func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }
