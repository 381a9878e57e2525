import CloudModel
import JSON
import RecordDecoding

/// Writes shapes as JSON Schema (draft 2020-12, as OpenAPI 3.1 has it), each named object once.
struct SchemaWriter {
    private let limits: ServiceLimits
    /// Objects that were named and are to be defined.
    private var waiting: [ObjectShape] = []
    private var known: Set<String> = []

    init(limits: ServiceLimits) { self.limits = limits }

    /// Writes a reference to an object, which `definitions` defines.
    mutating func reference(_ shape: ObjectShape, to line: inout JSONLine) {
        if known.insert(shape.name).inserted { waiting.append(shape) }
        line.beginObject()
        line.key("$ref")
        line.text("#/components/schemas/\(shape.name)")
        line.endObject()
    }

    /// Writes, as members, all objects that were named so far and those that they name.
    mutating func definitions(to line: inout JSONLine) {
        while let shape = waiting.popLast() {
            line.key(shape.name)
            object(shape, to: &line)
        }
    }

    private mutating func object(_ shape: ObjectShape, to line: inout JSONLine) {
        line.beginObject()
        line.key("type")
        line.text("object")
        let required = shape.keys.filter { $0.kind == .required }.map(\.name)
        if !required.isEmpty { texts("required", required, to: &line) }
        if !shape.oneOf.isEmpty {
            line.key("anyOf")
            line.beginArray()
            for key in shape.oneOf {
                line.beginObject()
                texts("required", [key], to: &line)
                line.endObject()
            }
            line.endArray()
        }
        line.key("properties")
        line.beginObject()
        for key in shape.keys {
            line.key(key.name)
            value(key.value, of: key.kind, to: &line)
        }
        line.endObject()
        line.endObject()
    }

    mutating func value(
        _ value: ValueShape, of kind: ObjectKey.Kind = .optional, to line: inout JSONLine
    ) {
        if case .object(let shape) = value, kind != .beyond, kind != .alias {
            return reference(shape, to: &line)
        }
        line.beginObject()
        if kind == .beyond {
            line.key("x-beyond-the-original")
            line.flag(true)
        }
        if kind == .alias {
            line.key("deprecated")
            line.flag(true)
        }
        members(of: value, to: &line)
        line.endObject()
    }

    private mutating func members(of value: ValueShape, to line: inout JSONLine) {
        switch value {
        case .text(let found, let bytesMax):
            type("string", to: &line)
            if let bytesMax { number("maxLength", Int64(bytesMax), to: &line) }
            examples(found, to: &line)
        case .base64(let found):
            type("string", to: &line)
            line.key("contentEncoding")
            line.text("base64")
            examples(found, to: &line)
        case .flag: type("boolean", to: &line)
        case .integer(let least, let most, let example):
            type("integer", to: &line)
            if let least { number("minimum", least, to: &line) }
            if let most { number("maximum", Int64(limits[keyPath: most]), to: &line) }
            if let example {
                line.key("examples")
                line.beginArray()
                line.number(example)
                line.endArray()
            }
        case .number(let range, let example):
            type("number", to: &line)
            if let range {
                number("minimum", Int64(range.lowerBound), to: &line)
                number("maximum", Int64(range.upperBound), to: &line)
            }
            if let example {
                line.key("examples")
                line.beginArray()
                line.thousandths(Int64(example * 1_000))
                line.endArray()
            }
        case .words(let words, let found):
            type("string", to: &line)
            texts("enum", words, to: &line)
            examples(found, to: &line)
        case .object(let shape):
            line.key("allOf")
            line.beginArray()
            reference(shape, to: &line)
            line.endArray()
        case .list(let element, let most):
            type("array", to: &line)
            if let most { number("maxItems", Int64(limits[keyPath: most]), to: &line) }
            line.key("items")
            self.value(element, to: &line)
        case .map(let element):
            type("object", to: &line)
            line.key("additionalProperties")
            self.value(element, to: &line)
        case .anyOf(let values):
            line.key("anyOf")
            line.beginArray()
            for one in values { self.value(one, to: &line) }
            line.endArray()
        }
    }

    private func type(_ name: String, to line: inout JSONLine) {
        line.key("type")
        line.text(name)
    }

    private func number(_ key: StaticString, _ number: Int64, to line: inout JSONLine) {
        line.key(key)
        line.number(number)
    }

    private func examples(_ found: [String], to line: inout JSONLine) {
        if !found.isEmpty { texts("examples", found, to: &line) }
    }

    private func texts(_ key: StaticString, _ texts: [String], to line: inout JSONLine) {
        line.key(key)
        line.beginArray()
        for text in texts { line.text(text) }
        line.endArray()
    }
}
