import Storage

/// Reads e-mail addresses and phone numbers into the form in which they are compared.
package enum AddressFormat {
    /// RFC 5321 §4.5.3.1.
    private static let emailBytesMax = 254
    private static let localBytesMax = 64

    /// An e-mail address; compared without case.
    ///
    /// - Throws: `emailIllegal`.
    package static func email(_ text: String) throws(AccountsRefusal) -> Address {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            !scalar.properties.isWhitespace && !"\"<>()[]\\,;:".unicodeScalars.contains(scalar)
                && scalar.properties.generalCategory != .control
                && scalar.properties.generalCategory != .format
        }
        guard parts.count == 2, isPlain, text.utf8.count <= emailBytesMax,
            (1...localBytesMax).contains(parts[0].utf8.count), !parts[1].isEmpty,
            parts[1].split(separator: ".", omittingEmptySubsequences: false)
                .allSatisfy({ !$0.isEmpty })
        else { throw .emailIllegal }
        return Address(kind: .email, text: text, folded: text.lowercased())
    }

    /// How addresses that begin with a text begin where they are compared.
    ///
    /// A text that begins with `+` and has nothing but what phone numbers have is the beginning of one.
    package static func foldedPrefix(_ text: String) -> String {
        let isPhone =
            text.hasPrefix("+")
            && text.dropFirst().allSatisfy { "0123456789 -.()/".contains($0) }
        return isPhone ? text.filter { !" -.()/".contains($0) } : text.lowercased()
    }

    /// A phone number; compared by its digits and the `+` in front (ITU-T E.164: 15 digits at most).
    ///
    /// - Throws: `phoneIllegal`.
    package static func phone(_ text: String) throws(AccountsRefusal) -> Address {
        var folded = ""
        for (at, character) in text.enumerated() {
            switch character {
            case "0"..."9" where character.isASCII: folded.append(character)
            case "+" where at == 0: folded.append(character)
            case " ", "-", ".", "(", ")", "/": continue
            default: throw .phoneIllegal
            }
        }
        guard (5...15).contains(folded.utf8.count - (folded.hasPrefix("+") ? 1 : 0)) else {
            throw .phoneIllegal
        }
        return Address(kind: .phone, text: text, folded: folded)
    }

    /// Whether a phone number begins with `+` and a country's code, so that it means the same everywhere.
    package static func isInternational(_ phone: Address) -> Bool {
        phone.folded.hasPrefix("+") && !phone.folded.hasPrefix("+0")
    }

    /// Whichever of the two the text is.
    ///
    /// - Throws: `addressIllegal`.
    package static func any(_ text: String) throws(AccountsRefusal) -> Address {
        do {
            return text.contains("@") ? try email(text) : try phone(text)
        } catch {
            throw .addressIllegal
        }
    }
}
