/// The members of an object in the order received.
@usableFromInline
package struct JSONMembers: Sequence, Sendable {
    @usableFromInline let value: JSONValue

    @inlinable
    init(of value: JSONValue) { self.value = value }

    @inlinable package var underestimatedCount: Int { value.kind == .object ? value.count : 0 }

    @inlinable
    package func makeIterator() -> Iterator {
        Iterator(
            document: value.document, index: value.index + 2,
            end: value.kind == .object ? value.document.tape.end(of: value.index) : 0)
    }

    /// Walks the members.
    @usableFromInline
    package struct Iterator: IteratorProtocol, Sendable {
        @usableFromInline let document: JSONDocument
        @usableFromInline var index: Int
        @usableFromInline let end: Int

        @inlinable
        init(document: JSONDocument, index: Int, end: Int) {
            self.document = document
            self.index = index
            self.end = end
        }

        /// The next member; its key is a value of the string kind.
        @inlinable
        package mutating func next() -> (key: JSONValue, value: JSONValue)? {
            guard index < end else { return nil }
            let member = (
                key: JSONValue(document: document, index: index),
                value: JSONValue(document: document, index: index + 1)
            )
            index = document.tape.next(after: index + 1)
            return member
        }
    }
}
