/// The members of an object in the order received.
package struct JSONMembers: Sequence, Sendable {
    private let value: JSONValue

    init(of value: JSONValue) { self.value = value }

    package var underestimatedCount: Int { value.kind == .object ? value.count : 0 }

    package func makeIterator() -> Iterator {
        Iterator(
            document: value.document, index: value.index + 2,
            end: value.kind == .object ? value.document.tape.end(of: value.index) : 0)
    }

    /// Walks the members.
    package struct Iterator: IteratorProtocol, Sendable {
        fileprivate let document: JSONDocument
        fileprivate var index: Int
        fileprivate let end: Int

        /// The next member; its key is a value of the string kind.
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
