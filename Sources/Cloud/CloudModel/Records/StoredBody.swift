import JSON

/// A record's JSON as it is stored, and where its parts are.
///
/// They are found by going along the text. It is never parsed as a whole: a value is, when it is asked for.
package struct StoredBody: Sendable {
    package let text: [UInt8]
    /// The whole object of the fields; nil for a body without one, such as a deletion's.
    package let fields: Range<Int>?
    /// The fields in their order; their names need no escapes.
    package let members: [JSONMemberWalk.Member]

    /// Most records have no more fields.
    private static let likelyCount = 16

    /// - Parameter fields: where the object of the fields is; nil to look for it.
    /// - Throws: `JSONError` for what is no stored body.
    package init(_ text: [UInt8], fields: Range<Int>? = nil) throws {
        self.text = text
        (self.fields, members) = try text.withUnsafeBytes { bytes in
            var walk = try JSONMemberWalk(bytes)
            guard let fields = try fields ?? walk.value(of: "fields") else { return (nil, []) }
            var members: [JSONMemberWalk.Member] = []
            members.reserveCapacity(Self.likelyCount)
            var walkOfFields = try JSONMemberWalk(bytes, objectAt: fields.lowerBound)
            while let member = try walkOfFields.next() { members.append(member) }
            return (fields, members)
        }
    }

    /// As the above, for bytes that belong to someone else.
    package init(copying text: UnsafeRawBufferPointer, fields: Range<Int>? = nil) throws {
        try self.init([UInt8](text), fields: fields)
    }

    /// Whether a text is JSON from its beginning to its end.
    package static func isJSON(_ text: UnsafeRawBufferPointer) -> Bool {
        // NB: what is wrong with it helps nobody.
        (try? JSONDocument(copying: text)) != nil
    }

    /// A field's object of value and type; nil when the record has no such field.
    package func field(_ name: String) -> JSONValue? {
        var name = name
        let found = name.withUTF8 { name in
            members.first {
                $0.key.count == name.count && text[$0.key].elementsEqual(name)
            }
        }
        return found.flatMap { value(at: $0.value) }
    }

    /// The name of a field.
    package func name(of member: JSONMemberWalk.Member) -> String {
        String(decoding: text[member.key], as: UTF8.self)
    }

    /// The text of a field, from its name to the end of its object.
    package func text(of member: JSONMemberWalk.Member) -> ArraySlice<UInt8> {
        text[member.key.lowerBound - 1..<member.value.upperBound]
    }

    /// Where the value of a member beside the fields is.
    package func range(of key: StaticString) -> Range<Int>? {
        // NB: what is no JSON has no such member; `check` tells of it.
        try? text.withUnsafeBytes { bytes in
            var walk = try JSONMemberWalk(bytes, knowing: fields)
            return try walk.value(of: key)
        }
    }

    /// A member beside the fields.
    package func member(_ key: StaticString) -> JSONValue? { range(of: key).flatMap(value) }

    private func value(at range: Range<Int>) -> JSONValue? {
        // NB: as above.
        try? JSONDocument(parsing: [UInt8](text[range])).root
    }
}
