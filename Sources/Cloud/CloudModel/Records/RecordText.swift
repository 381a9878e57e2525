#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A record's JSON as clients read it, taken apart: the places of what differs from record to record.
///
/// What lies between the parts is the same for all records (rulings.md 15). So a record can be kept without
/// it, and put together again byte for byte. All parts are kept as they are written, escapes included.
package struct RecordText {
    /// The author, moment and device of a change of a record.
    package struct Stamp {
        package let moment: Milliseconds
        package let user: Range<Int>
        package let device: Range<Int>
    }

    package let name: Range<Int>
    /// The members of `fields`, joined by commas.
    package let fields: Range<Int>
    package let created: Stamp
    package let modified: Stamp
    /// The name of the parent.
    package let parent: Range<Int>?
    /// The members after all of these: what the record says about sharing.
    package let rest: Range<Int>

    // MARK: - What lies between the parts

    package static let beforeName: StaticString = "{\"recordName\":\""
    package static let beforeType: StaticString = "\",\"recordType\":\""
    package static let beforeFields: StaticString = "\",\"fields\":{"
    package static let beforeTag: StaticString =
        "},\"pluginFields\":{},\"recordChangeTag\":\""
    package static let beforeCreated: StaticString = "\",\"created\":{\"timestamp\":"
    package static let beforeUser: StaticString = ",\"userRecordName\":\""
    package static let beforeDevice: StaticString = "\",\"deviceID\":\""
    package static let beforeModified: StaticString = "\"},\"modified\":{\"timestamp\":"
    package static let beforeZone: StaticString = "\"},\"deleted\":false,\"zoneID\":"
    package static let beforeParent: StaticString = ",\"parent\":{\"recordName\":\""
    package static let afterParent: StaticString = "\"}"
    package static let end = UInt8(ascii: "}")
    /// Of a deletion in the feeds (rulings.md 30).
    package static let beforeDeletedZone: StaticString = "\",\"deleted\":true,\"zoneID\":"
    package static let beforeDeletedType: StaticString = ",\"deletedRecordType\":\""
    package static let afterDeletedType: StaticString = "\"}"

    /// The device of a caller that names none.
    package static let plainDevice: StaticString = "iCloud"

    /// Moments beyond it are not taken apart.
    package static let momentMax: Milliseconds = 1 << 47

    // MARK: - Taking apart

    /// - Parameters:
    ///   - type: the name of the record's type.
    ///   - zone: the whole `zoneID` object.
    ///   - fieldsEnd: where the members of `fields` end, as the maker of the text knows; nil to look for it.
    /// - Returns: nil for what is not exactly the text of such a record at the position.
    package init?(
        _ text: UnsafeRawBufferPointer, type: [UInt8], position: Int64, zone: [UInt8],
        fieldsEnd: Int? = nil
    ) {
        var walk = TextWalk(text)
        walk.pass(Self.beforeName)
        name = walk.passString()
        walk.pass(Self.beforeType)
        walk.pass(type)
        walk.pass(Self.beforeFields)
        guard walk.isGood, let end = fieldsEnd ?? walk.last(Self.beforeTag),
            (walk.cursor...text.count).contains(end)
        else { return nil }
        fields = walk.cursor..<end
        walk.cursor = end
        walk.pass(Self.beforeTag)
        walk.pass(tagOf: position)
        walk.pass(Self.beforeCreated)
        created = walk.passStamp()
        walk.pass(Self.beforeModified)
        modified = walk.passStamp()
        walk.pass(Self.beforeZone)
        walk.pass(zone)
        if walk.passIfThere(Self.beforeParent) {
            parent = walk.passString()
            walk.pass(Self.afterParent)
        } else {
            parent = nil
        }
        guard walk.isGood, walk.cursor < text.count, text[text.count - 1] == Self.end
        else { return nil }
        rest = walk.cursor..<text.count - 1
    }

    /// The name in a deletion as the feeds show it.
    ///
    /// - Returns: nil for what is not exactly the text of such a deletion.
    package static func deleted(
        _ text: UnsafeRawBufferPointer, type: [UInt8], zone: [UInt8]
    ) -> Range<Int>? {
        var walk = TextWalk(text)
        walk.pass(beforeName)
        let name = walk.passString()
        walk.pass(beforeDeletedZone)
        walk.pass(zone)
        walk.pass(beforeDeletedType)
        walk.pass(type)
        walk.pass(afterDeletedType)
        return walk.isGood && walk.cursor == text.count ? name : nil
    }
}

/// Goes along a text that must be what is expected.
private struct TextWalk {
    private let text: UnsafeRawBufferPointer
    var cursor = 0
    /// False once something else was met.
    private(set) var isGood = true

    init(_ text: UnsafeRawBufferPointer) { self.text = text }

    private func holds(_ piece: UnsafeRawBufferPointer, at cursor: Int) -> Bool {
        guard cursor >= 0, cursor + piece.count <= text.count else { return false }
        guard let start = text.baseAddress, let wanted = piece.baseAddress else {
            return piece.isEmpty
        }
        return memcmp(start + cursor, wanted, piece.count) == 0
    }

    mutating func pass(_ piece: StaticString) {
        if !passIfThere(piece) { isGood = false }
    }

    mutating func passIfThere(_ piece: StaticString) -> Bool {
        piece.withUTF8Buffer {
            let isThere = holds(UnsafeRawBufferPointer($0), at: cursor)
            if isThere { cursor += $0.count }
            return isThere
        }
    }

    mutating func pass(_ piece: [UInt8]) { piece.withUnsafeBytes { pass($0) } }

    mutating func pass(tagOf position: Int64) {
        ChangeTag.withCharacters(position) { pass($0) }
    }

    private mutating func pass(_ piece: UnsafeRawBufferPointer) {
        if holds(piece, at: cursor) { cursor += piece.count } else { isGood = false }
    }

    /// Passes the rest of a JSON string, up to its closing quote.
    mutating func passString() -> Range<Int> {
        let start = cursor
        while let next = firstOf(quote: UInt8(ascii: "\""), escape: UInt8(ascii: "\\")) {
            cursor = next
            if text[cursor] == UInt8(ascii: "\"") { return start..<cursor }
            cursor += 2
        }
        isGood = false
        cursor = start
        return start..<start
    }

    /// Where the next of two characters stands; nil for nowhere.
    private func firstOf(quote: UInt8, escape: UInt8) -> Int? {
        guard let start = text.baseAddress, cursor < text.count else { return nil }
        guard let found = memchr(start + cursor, Int32(quote), text.count - cursor) else {
            return nil
        }
        let end = UnsafeRawPointer(found) - start
        guard let escaped = memchr(start + cursor, Int32(escape), end - cursor) else { return end }
        return UnsafeRawPointer(escaped) - start
    }

    /// Passes a moment, a user and a device.
    mutating func passStamp() -> RecordText.Stamp {
        let moment = passMoment()
        pass(RecordText.beforeUser)
        let user = passString()
        pass(RecordText.beforeDevice)
        return RecordText.Stamp(moment: moment, user: user, device: passString())
    }

    /// Passes a number as the server writes moments: without a sign, zeros in front or an exponent.
    private mutating func passMoment() -> Milliseconds {
        let start = cursor
        var moment: Milliseconds = 0
        while cursor < text.count, case let digit = text[cursor], (0x30...0x39).contains(digit),
            moment < RecordText.momentMax
        {
            moment = moment * 10 + Milliseconds(digit - 0x30)
            cursor += 1
        }
        let isPlain = cursor - start == 1 || (cursor > start && text[start] != 0x30)
        if !isPlain || moment >= RecordText.momentMax { isGood = false }
        return moment
    }

    /// The last place at or after this one where a piece stands.
    func last(_ piece: StaticString) -> Int? {
        piece.withUTF8Buffer { piece in
            guard let start = text.baseAddress, let first = piece.first,
                text.count >= piece.count
            else { return nil }
            let bytes = UnsafeRawBufferPointer(piece)
            // Without a look at bounds: from a record's end to its fields lie some 300 bytes.
            var found = start + (text.count - bytes.count)
            let from = start + cursor
            while found >= from {
                if found.load(as: UInt8.self) == first, holds(bytes, at: found - start) {
                    return found - start
                }
                found -= 1
            }
            return nil
        }
    }
}
