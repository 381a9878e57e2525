import Platform

/// Reads one whole head (RFC 9112 §2-3, §5-6), strictly: what two servers could read in two ways
/// is refused.
struct HeadParser {
    private let bytes: UnsafeRawBufferPointer
    private let fieldCountMax: Int
    private let targetBytesMax: Int
    private var head = RequestHead()
    private var host: Range<Int>?
    private var length: Int?
    private var isChunked = false
    private var hasKeepAlive = false
    private var hasClose = false
    private var authority: Range<Int>?

    /// - Parameters:
    ///   - bytes: a head that `HeadScanner` found complete.
    ///   - fieldCountMax: how many fields it found there, or how many there may be if that is less.
    static func parse(
        _ bytes: UnsafeRawBufferPointer, fieldCountMax: Int, targetBytesMax: Int
    ) throws(WireFault) -> RequestHead {
        var parser = HeadParser(
            bytes: bytes, fieldCountMax: fieldCountMax, targetBytesMax: targetBytesMax)
        return try parser.run()
    }

    private init(bytes: UnsafeRawBufferPointer, fieldCountMax: Int, targetBytesMax: Int) {
        self.bytes = bytes
        self.fieldCountMax = fieldCountMax
        self.targetBytesMax = targetBytesMax
    }

    private mutating func run() throws(WireFault) -> RequestHead {
        let lineEnd = endOfLine(from: 0)
        try parseRequestLine(0..<lineEnd)
        var fault: WireFault?
        withUnsafeTemporaryAllocation(of: HTTPHeaders.Field.self, capacity: fieldCountMax) {
            fields in
            do throws(WireFault) {
                let count = try parseFields(from: lineEnd + 2, into: fields)
                head.headers = HTTPHeaders(
                    head: bytes, fields: UnsafeBufferPointer(rebasing: fields[..<count]))
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        try finish()
        return head
    }

    private func endOfLine(from start: Int) -> Int {
        guard let base = bytes.baseAddress, start < bytes.count,
            let found = memchr(base + start, 0x0D, bytes.count - start)
        else { return bytes.count }
        return UnsafeRawPointer(found) - base
    }
}

// The request line (RFC 9112 §3).
extension HeadParser {
    private static let methodBytesMax = 32

    private mutating func parseRequestLine(_ line: Range<Int>) throws(WireFault) {
        var position = line.lowerBound
        while position < line.upperBound && Self.isToken(bytes[position]) { position += 1 }
        guard position > line.lowerBound, position - line.lowerBound <= Self.methodBytesMax,
            position < line.upperBound, bytes[position] == 0x20
        else { throw .malformedRequestLine }
        head.method = method(line.lowerBound..<position)
        let targetStart = position + 1
        // A fragment is not sent; a raw non-ASCII byte has no place in a URI (RFC 3986 §2).
        position = bytes.firstIndex(
            from: targetStart, to: line.upperBound, where: { $0 &- 0x21 >= 0x5E || $0 == 0x23 },
            mayStop: {
                $0.hasByte(below: 0x21) || $0.hasByteBeyondASCII || $0.contains(0x7F)
                    || $0.contains(0x23)
            })
        guard position > targetStart, position < line.upperBound, bytes[position] == 0x20 else {
            throw position < line.upperBound && bytes[position] != 0x20
                ? .malformedTarget : .malformedRequestLine
        }
        if position - targetStart > targetBytesMax { throw .targetTooLong }
        try parseVersion(position + 1..<line.upperBound)
        try parseTarget(targetStart..<position)
    }

    private mutating func parseVersion(_ range: Range<Int>) throws(WireFault) {
        let prefix: StaticString = "HTTP/"
        guard range.count == 8, startsWith(range, prefix),
            bytes[range.lowerBound + 5] &- 48 < 10, bytes[range.lowerBound + 6] == 0x2E,
            bytes[range.lowerBound + 7] &- 48 < 10
        else { throw .malformedRequestLine }
        let minor = bytes[range.lowerBound + 7] &- 48
        guard bytes[range.lowerBound + 5] == 0x31, minor < 2 else { throw .unsupportedVersion }
        head.isVersion10 = minor == 0
    }

    /// Takes a path as it is, `*` for OPTIONS, and of a URL what follows the host.
    private mutating func parseTarget(_ range: Range<Int>) throws(WireFault) {
        var path = range
        if bytes[range.lowerBound] == 0x2A {
            guard range.count == 1, head.method == .options else { throw .malformedTarget }
        } else if bytes[range.lowerBound] != 0x2F {
            let plain: StaticString = "http://"
            let secure: StaticString = "https://"
            let isSecure = startsWith(range, secure)
            guard isSecure || startsWith(range, plain) else { throw .malformedTarget }
            let start = range.lowerBound + (isSecure ? 8 : 7)
            var end = start
            while end < range.upperBound && bytes[end] != 0x2F && bytes[end] != 0x3F { end += 1 }
            guard end > start, end < range.upperBound, bytes[end] == 0x2F else {
                throw .malformedTarget
            }
            authority = start..<end
            path = end..<range.upperBound
        }
        head.target = Array(UnsafeRawBufferPointer(rebasing: bytes[path]))
    }

    private func method(_ range: Range<Int>) -> HTTPRequest.Method {
        switch range.count {
        case 3 where startsWith(range, "GET"): .get
        case 3 where startsWith(range, "PUT"): .put
        case 4 where startsWith(range, "POST"): .post
        case 4 where startsWith(range, "HEAD"): .head
        case 6 where startsWith(range, "DELETE"): .delete
        case 7 where startsWith(range, "OPTIONS"): .options
        default: .other(String(decoding: bytes[range], as: UTF8.self))
        }
    }

    /// Compares a range's beginning with a text, letter by letter.
    private func startsWith(_ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count >= text.utf8CodeUnitCount, let base = bytes.baseAddress else {
            return false
        }
        return memcmp(base + range.lowerBound, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    /// A token character (RFC 9110 §5.6.2).
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        let mask: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return byte < 128 && (mask >> UInt64(byte & 63)) & 1 == 1
    }
}

// The fields (RFC 9112 §5).
extension HeadParser {
    private mutating func parseFields(
        from start: Int, into fields: UnsafeMutableBufferPointer<HTTPHeaders.Field>
    ) throws(WireFault) -> Int {
        var count = 0
        var position = start
        while true {
            let end = endOfLine(from: position)
            if end == position { return count }
            if count == fields.count { throw .tooManyHeaders }
            let name = position
            position = bytes.firstIndex(
                from: name, to: end, where: { !Self.isToken($0) },
                mayStop: { !$0.hasOnlyLettersAndHyphens })
            // This refuses a folded line and a space before the colon, too.
            guard position > name, position < end, bytes[position] == 0x3A else {
                throw .malformedHeader
            }
            let nameEnd = position
            let value = trimmed(nameEnd + 1..<end)
            fields.initializeElement(
                at: count,
                to: HTTPHeaders.Field(
                    name: UInt32(truncatingIfNeeded: name),
                    nameCount: UInt32(truncatingIfNeeded: nameEnd - name),
                    value: UInt32(truncatingIfNeeded: value.lowerBound),
                    valueCount: UInt32(truncatingIfNeeded: value.count)))
            count += 1
            try note(name: name..<nameEnd, value: value)
            position = end + 2
        }
    }

    /// Takes up the fields that the wire itself must understand.
    private mutating func note(name: Range<Int>, value: Range<Int>) throws(WireFault) {
        switch name.count {
        case 4 where isText(name, "host"):
            guard host == nil, isHost(value) else { throw .missingHost }
            host = value
        case 6 where isText(name, "expect"):
            guard isText(value, "100-continue") else { throw .unsupportedExpectation }
            head.expectsContinue = true
        case 9 where isText(name, "forwarded"): head.isForwarded = true
        case 10 where isText(name, "connection"):
            var list = value
            while let token = nextElement(&list) {
                if isText(token, "close") { hasClose = true }
                if isText(token, "keep-alive") { hasKeepAlive = true }
            }
        case 14 where isText(name, "content-length"):
            guard length == nil else { throw .malformedLength }
            length = try decimal(value)
        case 15 where isText(name, "accept-encoding"):
            var list = value
            while let token = nextElement(&list) {
                if acceptsGzip(token) { head.acceptsGzip = true }
            }
        case 15 where isText(name, "x-forwarded-for"): head.isForwarded = true
        case 16 where isText(name, "content-encoding"):
            if isText(value, "identity") || value.isEmpty { return }
            guard isText(value, "gzip"), !head.isGzipped else { throw .unsupportedEncoding }
            head.isGzipped = true
        case 17 where isText(name, "transfer-encoding"):
            guard !isChunked, isText(value, "chunked") else { throw .malformedCoding }
            isChunked = true
        default: break
        }
    }

    private mutating func finish() throws(WireFault) {
        // RFC 9112 §3.2: one Host; §6.1: no transfer coding before 1.1, none beside a length.
        if host == nil && !head.isVersion10 { throw .missingHost }
        if let authority, let host, !sameText(authority, host) { throw .malformedTarget }
        if isChunked {
            if head.isVersion10 { throw .malformedCoding }
            if length != nil { throw .ambiguousLength }
            head.framing = .chunked
        } else if let length, length > 0 {
            head.framing = .length(length)
        }
        head.keepsAlive = !hasClose && (!head.isVersion10 || hasKeepAlive)
    }

    /// Digits only; a number that no body may have is as large as any.
    private func decimal(_ range: Range<Int>) throws(WireFault) -> Int {
        guard !range.isEmpty, range.count < 100 else { throw .malformedLength }
        var number = 0
        for index in range {
            let digit = bytes[index] &- 48
            guard digit < 10 else { throw .malformedLength }
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int(digit))
            number = overflow || carry || number == .max ? .max : sum
        }
        return number
    }

    /// Takes the next element off a comma-separated list, without the white space around it.
    private func nextElement(_ list: inout Range<Int>) -> Range<Int>? {
        while !list.isEmpty {
            var end = list.lowerBound
            while end < list.upperBound && bytes[end] != 0x2C { end += 1 }
            let element = trimmed(list.lowerBound..<end)
            list = min(end + 1, list.upperBound)..<list.upperBound
            if !element.isEmpty { return element }
        }
        return nil
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end && Self.isBlank(bytes[start]) { start += 1 }
        while end > start && Self.isBlank(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    /// `gzip` or `*`, unless its weight is zero (RFC 9110 §12.5.3).
    private func acceptsGzip(_ element: Range<Int>) -> Bool {
        guard let semicolon = element.first(where: { bytes[$0] == 0x3B }) else {
            return isText(element, "gzip") || isText(element, "*")
        }
        let name = trimmed(element.lowerBound..<semicolon)
        guard isText(name, "gzip") || isText(name, "*") else { return false }
        let weight = trimmed(semicolon + 1..<element.upperBound)
        guard weight.count >= 3, isText(weight.prefix(2), "q=") else { return false }
        return weight.dropFirst(2).contains { bytes[$0] &- 0x31 < 9 }
    }

    /// Compares without case; the text is in lower case.
    private func isText(_ range: Range<Int>, _ text: StaticString) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        let wanted = text.utf8Start
        for index in 0..<range.count
        where HTTPHeaders.lowercased(bytes[range.lowerBound + index]) != wanted[index] {
            return false
        }
        return true
    }

    private func sameText(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy {
                HTTPHeaders.lowercased(bytes[$0]) == HTTPHeaders.lowercased(bytes[$1])
            }
    }

    /// A name or an address and perhaps a port (RFC 3986 §3.2.2), by its characters.
    private func isHost(_ range: Range<Int>) -> Bool {
        if range.isEmpty { return false }
        for index in range {
            let byte = bytes[index]
            switch byte {
            // Letters, digits, and - . : [ ] _ ~ % ! $ & ' ( ) * + ; =
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: continue
            case 0x2D, 0x2E, 0x3A, 0x5B, 0x5D, 0x5F, 0x7E, 0x25, 0x21, 0x24: continue
            case 0x26...0x2B, 0x3B, 0x3D: continue
            default: return false
            }
        }
        return true
    }

    @inline(__always)
    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
