import JSON

// Attributes as OpenTelemetry's protocol has them in JSON, of whatever has some.
extension JSONLine {
    mutating func attributes(_ attributes: [(name: String, value: String)]) {
        key("attributes")
        beginArray()
        for (name, value) in attributes {
            beginObject()
            key("key")
            text(name)
            key("value")
            beginObject()
            key("stringValue")
            text(value)
            endObject()
            endObject()
        }
        endArray()
    }
}
