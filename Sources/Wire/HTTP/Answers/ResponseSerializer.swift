/// Writes the head of an answer (RFC 9112 §4-5).
enum ResponseSerializer {
    /// How the length of the body is told.
    enum Framing: Equatable {
        /// No body and no length: 1xx, 204, 304.
        case none
        case length(Int)
        case chunked
    }

    /// What the connection itself has to say in a head.
    struct ConnectionFields {
        var framing: Framing
        var closes = false
        /// For a client of HTTP/1.0, which expects the connection to close.
        var saysKeepAlive = false
        var isGzipped = false
        var variesByEncoding = false
    }

    /// Appends the head to the buffer.
    ///
    /// - Returns: false when a field of the answer may not go out. Its name is no token, its value
    ///   has a control character, or the connection writes this field itself. The buffer then holds
    ///   part of it.
    static func append(
        _ response: HTTPResponse, _ fields: ConnectionFields, date: HTTPDate,
        to buffer: OutputBuffer
    ) -> Bool {
        appendStatusLine(response.status, to: buffer)
        for field in response.headers {
            guard append(name: field.name, value: field.value, to: buffer) else { return false }
        }
        buffer.append(date.field)
        switch fields.framing {
        case .none: break
        case .length(let length):
            buffer.append("Content-Length: ")
            buffer.append(decimal: length)
            buffer.append("\r\n")
        case .chunked: buffer.append("Transfer-Encoding: chunked\r\n")
        }
        if fields.isGzipped { buffer.append("Content-Encoding: gzip\r\n") }
        if fields.variesByEncoding { buffer.append("Vary: Accept-Encoding\r\n") }
        if fields.closes {
            buffer.append("Connection: close\r\n")
        } else if fields.saysKeepAlive {
            buffer.append("Connection: keep-alive\r\n")
        }
        buffer.append("\r\n")
        return true
    }

    private static func append(name: String, value: String, to buffer: OutputBuffer) -> Bool {
        var name = name
        var value = value
        return name.withUTF8 { name in
            value.withUTF8 { value in
                let value = UnsafeRawBufferPointer(value)
                guard isAllowed(name),
                    HeadScanner.firstSpecial(value, from: 0, to: value.count) == value.count
                else { return false }
                buffer.append(UnsafeRawBufferPointer(name))
                buffer.append(": ")
                buffer.append(value)
                buffer.append("\r\n")
                return true
            }
        }
    }

    private static func isAllowed(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        let bytes = UnsafeRawBufferPointer(name)
        let end = bytes.firstIndex(
            from: 0, to: bytes.count, where: { !HeadParser.isToken($0) },
            mayStop: { !$0.hasOnlyLettersAndHyphens })
        if name.isEmpty || end < name.count { return false }
        switch name.count {
        case 4: return !isText(name, "date")
        case 10: return !isText(name, "connection")
        case 14: return !isText(name, "content-length")
        case 17: return !isText(name, "transfer-encoding")
        default: return true
        }
    }

    static func isText(_ bytes: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
        guard bytes.count == text.utf8CodeUnitCount else { return false }
        for index in bytes.indices
        where HTTPHeaders.lowercased(bytes[index]) != text.utf8Start[index] {
            return false
        }
        return true
    }

    private static func appendStatusLine(_ status: Int, to buffer: OutputBuffer) {
        if status == 200 {
            buffer.append("HTTP/1.1 200 OK\r\n")
            return
        }
        buffer.append("HTTP/1.1 ")
        // NB: three digits whatever was asked for: a status line of another form would desync.
        buffer.append(decimal: (100...999).contains(status) ? status : 500)
        buffer.append(0x20)
        buffer.append(phrase(status))
        buffer.append("\r\n")
    }

    /// The phrase of RFC 9110 §15, which only people read.
    private static func phrase(_ status: Int) -> StaticString {
        switch status {
        case 201: "Created"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "Status"
        }
    }
}
