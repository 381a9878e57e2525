/// The header fields of one request, in the order received.
package struct HTTPHeaders: Sendable {
    private let fields: [(name: String, value: String)]

    /// - Parameter fields: names in any case; values without the white space around them.
    package init(_ fields: [(name: String, value: String)]) {
        self.fields = fields.map { ($0.name.lowercased(), $0.value) }
    }

    /// The first value under a name given in lower case.
    package subscript(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }
}
