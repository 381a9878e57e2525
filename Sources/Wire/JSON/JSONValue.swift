/// One value of a document: a cursor, cheap to copy, that keeps its document alive.
///
/// What does not apply to a value's kind is nil, false or empty, never an error: the reader of a
/// request knows what it expected and words the error.
@usableFromInline
package struct JSONValue: Sendable {
    /// The kinds of JSON values.
    @usableFromInline
    package enum Kind: UInt8, Sendable {
        case object, array, string, number, `true`, `false`, null
    }

    @usableFromInline let document: JSONDocument
    @usableFromInline let index: Int

    @inlinable
    init(document: JSONDocument, index: Int) {
        self.document = document
        self.index = index
    }

    @inlinable package var kind: Kind { document.tape.kind(of: index) }

    @inlinable package var isNull: Bool { kind == .null }

    /// The boolean, or nil for any other kind.
    @inlinable package var bool: Bool? {
        switch kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// The number of elements of an array or of members of an object, otherwise 0.
    @inlinable package var count: Int {
        document.tape.isContainer(index) ? document.tape.members(of: index) : 0
    }

    /// The elements of an array in their order; empty for any other kind.
    @inlinable package var elements: JSONElements { JSONElements(of: self) }

    /// The members of an object in the order received; empty for any other kind.
    @inlinable package var members: JSONMembers { JSONMembers(of: self) }

    /// A member of an object; nil when it is absent or this is no object.
    @inlinable
    package subscript(_ key: StaticString) -> JSONValue? {
        key.withUTF8Buffer { member($0) }
    }

    /// A member of an object by a key known at run time; nil when it is absent or this is no object.
    package func member(_ key: String) -> JSONValue? {
        var key = key
        return key.withUTF8 { member($0) }
    }

    /// Three members of an object, found in one walk; each nil when it is absent or this is no object.
    package subscript(
        _ first: StaticString, _ second: StaticString, _ third: StaticString
    ) -> (JSONValue?, JSONValue?, JSONValue?) {
        #if DEBUG
            for key in [first, second, third] {
                key.withUTF8Buffer { JSONReadings.note(self, $0) }
            }
        #endif
        guard document.tape.isObject(index) else { return (nil, nil, nil) }
        // Of each the index; no member has the first one.
        var found = (0, 0, 0)
        let end = document.tape.end(of: index)
        document.bytes.withUnsafeBufferPointer { text in
            var key = index + 2
            while key < end {
                if document.tape.string(at: key, of: text, equals: first) {
                    found.0 = key + 1
                } else if document.tape.string(at: key, of: text, equals: second) {
                    found.1 = key + 1
                } else if document.tape.string(at: key, of: text, equals: third) {
                    found.2 = key + 1
                }
                key = document.tape.next(after: key + 1)
            }
        }
        return (member(found.0), member(found.1), member(found.2))
    }

    private func member(_ index: Int) -> JSONValue? {
        index == 0 ? nil : JSONValue(document: document, index: index)
    }

    @usableFromInline
    func member(_ key: UnsafeBufferPointer<UInt8>) -> JSONValue? {
        #if DEBUG
            JSONReadings.note(self, key)
        #endif
        guard document.tape.isObject(index) else { return nil }
        let found = document.bytes.withUnsafeBufferPointer { text in
            var member = index + 2
            let end = document.tape.end(of: index)
            while member < end {
                if document.tape.string(at: member, of: text, equals: key) { return member }
                member = document.tape.next(after: member + 1)
            }
            return end
        }
        if found == document.tape.end(of: index) { return nil }
        return JSONValue(document: document, index: found + 1)
    }

    /// The value's text exactly as received, without the white space around it.
    @inlinable
    package func withRawBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let range = document.tape.range(of: index)
        return try document.bytes.withUnsafeBytes { bytes in
            try body(UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }

    /// Where the value starts, for error texts: counted from 1, columns in Unicode scalars.
    ///
    /// Walks the text from its start.
    package var position: (line: Int, column: Int) {
        let position = document.bytes.withUnsafeBufferPointer {
            JSONPosition(of: document.tape.offset(of: index), in: $0)
        }
        return (position.line, position.column)
    }
}
