/// The elements of an array in their order.
package struct JSONElements: Sequence, Sendable {
    private let value: JSONValue

    init(of value: JSONValue) { self.value = value }

    package var underestimatedCount: Int { value.kind == .array ? value.count : 0 }

    package func makeIterator() -> Iterator {
        Iterator(
            document: value.document, index: value.index + 2,
            end: value.kind == .array ? value.document.tape.end(of: value.index) : 0)
    }

    /// Walks the elements.
    package struct Iterator: IteratorProtocol, Sendable {
        fileprivate let document: JSONDocument
        fileprivate var index: Int
        fileprivate let end: Int

        package mutating func next() -> JSONValue? {
            guard index < end else { return nil }
            let element = JSONValue(document: document, index: index)
            index = document.tape.next(after: index)
            return element
        }
    }
}
