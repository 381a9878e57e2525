import JSON

/// A command on its way to the server that holds the data folder.
package struct ControlRequest: Sendable, Equatable {
    /// As typed, without files' contents and standard input.
    package var arguments: [String]
    /// What files and standard input held, by option name: here are the secrets.
    package var inputs: [String: [UInt8]]

    /// Whether it asks how the server is, which the server answers without its data.
    package var isHealthcheck: Bool { arguments.first == Self.healthcheck.arguments.first }

    /// Asks how the server is.
    package static let healthcheck = ControlRequest(arguments: ["healthcheck"], inputs: [:])

    package init(arguments: [String], inputs: [String: [UInt8]]) {
        self.arguments = arguments
        self.inputs = inputs
    }

    /// Reads a frame; nil when it is not one of these.
    init?(frame: [UInt8]) {
        guard let root = parsed(frame), let arguments = texts(root["arguments"]),
            let inputs = root["inputs"]
        else { return nil }
        self.arguments = arguments
        self.inputs = [:]
        for (key, value) in inputs.members {
            guard let name = key.string, let text = value.string else { return nil }
            self.inputs[name] = Array(text.utf8)
        }
    }

    var frame: [UInt8] {
        var line = JSONLine()
        line.beginObject()
        line.key("arguments")
        line.beginArray()
        for argument in arguments { line.text(argument) }
        line.endArray()
        line.key("inputs")
        line.beginObject()
        for (name, bytes) in inputs {
            line.key(name)
            line.text(String(decoding: bytes, as: UTF8.self))
        }
        line.endObject()
        line.endObject()
        return line.bytes
    }
}

/// What a command came to: what the process that asked prints and exits with.
package struct CommandAnswer: Sendable, Equatable {
    package var status: Int32
    package var output: [UInt8]
    /// One line without its end; empty when there is nothing to complain about.
    package var error: String
    /// What is to go to the file that the command names; nil for none.
    package var file: [UInt8]?
    /// Whether the command waits for `--yes` to do what its output says.
    package var asks = false

    package init(status: Int32, output: [UInt8] = [], error: String = "") {
        self.status = status
        self.output = output
        self.error = error
    }

    /// Reads a frame; nil when it is not one of these.
    init?(frame: [UInt8]) {
        guard let root = parsed(frame), let status = root["status"]?.int64,
            let output = root["output"]?.string, let error = root["error"]?.string
        else { return nil }
        self.init(
            status: Int32(clamping: status), output: Array(output.utf8), error: error)
        file = root["file"]?.string.map { Array($0.utf8) }
        asks = root["asks"]?.bool ?? false
    }

    var frame: [UInt8] {
        var line = JSONLine()
        line.beginObject()
        line.key("status")
        line.number(Int64(status))
        line.key("output")
        line.text(String(decoding: output, as: UTF8.self))
        line.key("error")
        line.text(error)
        if let file {
            line.key("file")
            line.text(String(decoding: file, as: UTF8.self))
        }
        line.key("asks")
        line.flag(asks)
        line.endObject()
        return line.bytes
    }
}

private func parsed(_ frame: [UInt8]) -> JSONValue? {
    // NB: whatever is not JSON is simply not a message.
    (try? JSONDocument(parsing: frame))?.root
}

private func texts(_ value: JSONValue?) -> [String]? {
    guard let value, value.kind == .array else { return nil }
    var texts: [String] = []
    for element in value.elements {
        guard let text = element.string else { return nil }
        texts.append(text)
    }
    return texts
}
