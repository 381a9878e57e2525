import CloudDatabase
import CloudModel

/// A schema as somebody wrote it down.
package struct SchemaFile: Sendable {
    private let name: String
    private let text: [UInt8]

    /// - Parameter name: what to call it when it cannot be read.
    package init(named name: String, _ text: [UInt8]) {
        self.name = name
        self.text = text
    }

    /// - Throws: `SchemaFileRefusal`.
    func schema(_ limits: ServiceLimits) throws(SchemaFileRefusal) -> Schema {
        do throws(SchemaSyntaxError) {
            return try SchemaLanguage.parse(text, bytesMax: limits.schemaBytesMax)
        } catch {
            throw SchemaFileRefusal(description: "\(name): \(error)")
        }
    }
}

/// What is wrong in a file that should hold a schema, and where in it.
package struct SchemaFileRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
}
