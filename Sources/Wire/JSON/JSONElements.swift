/// The elements of an array in their order.
@usableFromInline
package struct JSONElements: Sequence, Sendable {
    @usableFromInline let value: JSONValue

    @inlinable
    init(of value: JSONValue) { self.value = value }

    @inlinable package var underestimatedCount: Int { value.kind == .array ? value.count : 0 }

    @inlinable
    package func makeIterator() -> Iterator {
        Iterator(
            document: value.document, index: value.index + 2,
            end: value.kind == .array ? value.document.tape.end(of: value.index) : 0)
    }

    /// Walks the elements.
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

        @inlinable
        package mutating func next() -> JSONValue? {
            guard index < end else { return nil }
            let element = JSONValue(document: document, index: index)
            index = document.tape.next(after: index)
            return element
        }
    }
}
