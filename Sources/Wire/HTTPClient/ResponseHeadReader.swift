import HTTP

/// Reads one whole head of an answer.
struct ResponseHeadReader {
    let limits: ResponseLimits
    /// Whatever the fields say, no body follows.
    let isBodyless: Bool

    /// - Parameter bytes: a head with its empty line.
    func read(_ bytes: [UInt8]) throws(ClientFailure) -> ResponseHead {
        var lines = try Self.lines(bytes)[...]
        guard let first = lines.popFirst() else { throw .malformed("no status line") }
        let (status, isVersion10) = try Self.statusLine(first)
        guard lines.count <= limits.fieldCountMax else {
            throw .malformed("more than \(limits.fieldCountMax) fields")
        }
        var fields: [(name: String, value: String)] = []
        for line in lines { fields.append(try Self.field(line)) }
        let framing = try framing(status: status, fields)
        var options: Set<String> = []
        for field in fields where field.name == "connection" {
            for option in field.value.lowercased().split(separator: ",") {
                options.insert(option.filter { $0 != " " && $0 != "\t" })
            }
        }
        let keepsAlive =
            framing != .untilClose && !options.contains("close")
            && (!isVersion10 || options.contains("keep-alive"))
        return ResponseHead(
            status: status, headers: HTTPHeaders(fields), framing: framing, keepsAlive: keepsAlive)
    }

    /// The lines without their ends; every end is CR LF, and no other control character but the tab
    /// is anywhere.
    private static func lines(_ bytes: [UInt8]) throws(ClientFailure) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x0D {
                guard index + 1 < bytes.count, bytes[index + 1] == 0x0A else {
                    throw .malformed("a lone CR in the head")
                }
                if index > start { lines.append(bytes[start..<index]) }
                index += 2
                start = index
                continue
            }
            guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else {
                throw .malformed("a control character in the head")
            }
            index += 1
        }
        return lines
    }

    /// `HTTP/1.1 200 reason`, the reason of any length.
    private static func statusLine(
        _ line: ArraySlice<UInt8>
    ) throws(ClientFailure) -> (status: Int, isVersion10: Bool) {
        let bytes = Array(line)
        guard bytes.count >= 12, bytes.starts(with: "HTTP/1.".utf8), bytes[8] == 0x20,
            bytes[7] == 0x30 || bytes[7] == 0x31, bytes.count == 12 || bytes[12] == 0x20
        else { throw .malformed("no status line of HTTP/1.1") }
        var status = 0
        for byte in bytes[9..<12] {
            guard 0x30...0x39 ~= byte else { throw .malformed("no status line of HTTP/1.1") }
            status = status * 10 + Int(byte - 0x30)
        }
        guard (100...599).contains(status) else { throw .malformed("status \(status)") }
        return (status, bytes[7] == 0x30)
    }

    /// The name in lower case, the value without white space around it.
    private static func field(
        _ line: ArraySlice<UInt8>
    ) throws(ClientFailure) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex else {
            throw .malformed("a field without a name")
        }
        let name = line[..<colon]
        guard name.allSatisfy(isToken) else { throw .malformed("a field's name") }
        var value = line[(colon + 1)...]
        while let byte = value.first, byte == 0x20 || byte == 0x09 { value.removeFirst() }
        while let byte = value.last, byte == 0x20 || byte == 0x09 { value.removeLast() }
        return (
            String(decoding: name, as: UTF8.self).lowercased(),
            String(decoding: value, as: UTF8.self)
        )
    }

    /// A token character (RFC 9110 §5.6.2).
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// RFC 9112 §6.3; a length beside a coding, and two of either, are refused.
    private func framing(
        status: Int, _ fields: [(name: String, value: String)]
    ) throws(ClientFailure) -> ResponseHead.Framing {
        let lengths = fields.filter { $0.name == "content-length" }.map(\.value)
        let codings = fields.filter { $0.name == "transfer-encoding" }.map(\.value)
        guard lengths.count <= 1, codings.count <= 1, lengths.isEmpty || codings.isEmpty else {
            throw .malformed("two lengths")
        }
        var length: Int?
        if let text = lengths.first {
            guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int(text)
            else { throw .malformed("Content-Length") }
            length = number
        }
        if let coding = codings.first, coding.lowercased() != "chunked" {
            throw .malformed("Transfer-Encoding")
        }
        if isBodyless || status < 200 || status == 204 || status == 304 { return .none }
        if !codings.isEmpty { return .chunked }
        return length.map { .length($0) } ?? .untilClose
    }
}
