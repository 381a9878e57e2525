/// A request to be sent.
package struct ClientRequest {
    package var method: String
    /// Path and query, percent-encoded.
    package var target: String
    /// Without `Host`, `Content-Length` and `Connection`, which the client adds.
    package var headers: [(name: String, value: String)]
    package var body: ClientBody

    package init(
        method: String, target: String, headers: [(name: String, value: String)] = [],
        body: ClientBody = .none
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// The head as it goes out; nil when a part of it would break the framing.
    func head(to origin: HTTPOrigin) -> [UInt8]? {
        var fields = [("Host", origin.authority)]
        fields += headers.map { ($0.name, $0.value) }
        if body.byteCount > 0 || method == "PUT" || method == "POST" {
            fields.append(("Content-Length", "\(body.byteCount)"))
        }
        let isLegal =
            Self.isVisible(method) && Self.isVisible(target)
            && fields.allSatisfy { Self.isVisible($0.0) && Self.isFieldValue($0.1) }
        guard isLegal else { return nil }
        var text = "\(method) \(target) HTTP/1.1\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    private static func isVisible(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
    }

    private static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}

/// The bytes that a request brings along, read piece by piece while they are sent.
package struct ClientBody {
    package let byteCount: Int
    /// From 1 to `count` bytes from an offset on.
    let read: (_ offset: Int, _ count: Int) throws -> [UInt8]

    /// - Parameter read: gives from 1 to `count` bytes from an offset on, whenever it is asked: a
    ///   request may have to be sent again.
    package init(
        byteCount: Int, read: @escaping (_ offset: Int, _ count: Int) throws -> [UInt8]
    ) {
        self.byteCount = byteCount
        self.read = read
    }

    package static var none: ClientBody { bytes([]) }

    package static func bytes(_ bytes: [UInt8]) -> ClientBody {
        ClientBody(byteCount: bytes.count) { Array(bytes[$0..<min($0 + $1, bytes.count)]) }
    }
}
