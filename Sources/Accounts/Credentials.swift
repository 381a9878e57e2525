#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What one request brings to show who it is from, as received and not yet believed.
///
/// Making one reads only the query string; the body is hashed when a signature has to be verified.
package struct Credentials: Sendable {
    /// The three headers of a signed request, empty where one is missing.
    struct Signature: Sendable {
        let keyID: String
        let date: String
        /// Base64 of the signature in DER.
        let signature: String
    }

    /// `ckAPIToken`, percent-decoded; nil when absent or empty.
    let apiToken: TokenBytes?
    /// `ckWebAuthToken` or `ckSession`, percent-decoded, else the header; nil when absent, empty or `null`
    /// (rulings.md 47).
    let webToken: TokenBytes?
    /// `ckOnBehalfOf`, percent-decoded; nil when absent.
    let onBehalfOf: [UInt8]?
    /// The name of a parameter that came more than once, so that nobody can say which one counts.
    let repeatedName: String?
    /// Nil when none of the headers is there.
    let signature: Signature?
    let origin: String?
    /// The request target exactly as received.
    let target: [UInt8]
    let body: [UInt8]

    /// Takes what the request has of each; headers as their values.
    ///
    /// In the query `+` stands for itself, and a space in the web token for `+`: clients that encode
    /// once too little or too much are understood all the same (web-services.md §2.3).
    package init(
        target: [UInt8], keyID: String? = nil, date: String? = nil, signature: String? = nil,
        webToken header: String? = nil, origin: String? = nil, body: [UInt8] = []
    ) {
        var query = CredentialQuery()
        target.withUnsafeBytes { query.read($0) }
        apiToken = query.apiToken.flatMap { $0.isEmpty ? nil : TokenBytes($0) }
        webToken = (query.webToken ?? header.map { Array($0.utf8) }.flatMap(CredentialQuery.token))
            .map { TokenBytes($0) }
        onBehalfOf = query.onBehalfOf
        repeatedName = query.repeatedName
        if keyID == nil, date == nil, signature == nil {
            self.signature = nil
        } else {
            self.signature = Signature(
                keyID: keyID ?? "", date: date ?? "", signature: signature ?? "")
        }
        self.origin = origin
        self.target = target
        self.body = body
    }
}

/// A token as presented, fast to look up by.
struct TokenBytes: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    // Tokens that are kept were made at random: their ends tell them apart, and hashing all of their
    // bytes, as an array does one by one, would cost more than the rest of a cached check.
    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes {
            hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0.suffix(16)))
        }
    }

    static func == (left: TokenBytes, right: TokenBytes) -> Bool {
        left.bytes.withUnsafeBytes { left in
            right.bytes.withUnsafeBytes { right in
                guard left.count == right.count else { return false }
                guard let first = left.baseAddress, let second = right.baseAddress else {
                    return true
                }
                return memcmp(first, second, left.count) == 0
            }
        }
    }
}

/// Finds the credentials among the parameters of a request target.
private struct CredentialQuery {
    var apiToken: [UInt8]?
    var webToken: [UInt8]?
    var onBehalfOf: [UInt8]?
    var repeatedName: String?
    private var hasWebToken = false
    private var hasSession = false

    private static let apiTokenName: StaticString = "ckAPIToken"
    private static let webTokenName: StaticString = "ckWebAuthToken"
    private static let sessionName: StaticString = "ckSession"
    private static let onBehalfOfName: StaticString = "ckOnBehalfOf"

    mutating func read(_ target: UnsafeRawBufferPointer) {
        guard let question = index(of: UInt8(ascii: "?"), in: target, from: 0) else { return }
        var start = question + 1
        while start < target.count {
            let end = index(of: UInt8(ascii: "&"), in: target, from: start) ?? target.count
            read(parameter: UnsafeRawBufferPointer(rebasing: target[start..<end]))
            start = end + 1
        }
    }

    private mutating func read(parameter: UnsafeRawBufferPointer) {
        let equals = index(of: UInt8(ascii: "="), in: parameter, from: 0) ?? parameter.count
        let name = UnsafeRawBufferPointer(rebasing: parameter[..<equals])
        let value = UnsafeRawBufferPointer(rebasing: parameter[min(equals + 1, parameter.count)...])
        guard index(of: UInt8(ascii: "%"), in: name, from: 0) == nil else {
            let decoded = percentDecoded(name)
            decoded.withUnsafeBytes { take($0, value) }
            return
        }
        take(name, value)
    }

    private mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        if isSame(name, CredentialQuery.apiTokenName) {
            if apiToken != nil { repeatedName = "\(CredentialQuery.apiTokenName)" }
            apiToken = percentDecoded(value)
        } else if isSame(name, CredentialQuery.webTokenName) {
            if hasWebToken { repeatedName = "\(CredentialQuery.webTokenName)" }
            hasWebToken = true
            take(webToken: value, CredentialQuery.webTokenName)
        } else if isSame(name, CredentialQuery.sessionName) {
            if hasSession { repeatedName = "\(CredentialQuery.sessionName)" }
            hasSession = true
            take(webToken: value, CredentialQuery.sessionName)
        } else if isSame(name, CredentialQuery.onBehalfOfName) {
            if onBehalfOf != nil { repeatedName = "\(CredentialQuery.onBehalfOfName)" }
            onBehalfOf = percentDecoded(value)
        }
    }

    /// Takes a web token under either of its names; both may come, with one value.
    private mutating func take(webToken value: UnsafeRawBufferPointer, _ name: StaticString) {
        var decoded = percentDecoded(value)
        if decoded.contains(UInt8(ascii: " ")) {
            decoded = decoded.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "+") : $0 }
        }
        guard let token = Self.token(decoded) else { return }
        if let webToken, webToken != token { repeatedName = "\(name)" }
        webToken = token
    }

    /// A web token, unless it is what programs send that have none.
    static func token(_ presented: [UInt8]) -> [UInt8]? {
        presented.isEmpty || presented.elementsEqual("null".utf8) ? nil : presented
    }

    private func isSame(_ name: UnsafeRawBufferPointer, _ known: StaticString) -> Bool {
        guard name.count == known.utf8CodeUnitCount, let start = name.baseAddress else {
            return false
        }
        return memcmp(start, known.utf8Start, name.count) == 0
    }

    private func index(of byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress, start < bytes.count,
            let found = memchr(base + start, Int32(byte), bytes.count - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// Undoes percent-encoding; what is no escape stands for itself.
    private func percentDecoded(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        guard index(of: UInt8(ascii: "%"), in: bytes, from: 0) != nil else { return Array(bytes) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var at = 0
        while at < bytes.count {
            if bytes[at] == UInt8(ascii: "%"), bytes.count - at > 2,
                let high = digit(bytes[at + 1]), let low = digit(bytes[at + 2])
            {
                decoded.append(high << 4 | low)
                at += 3
            } else {
                decoded.append(bytes[at])
                at += 1
            }
        }
        return decoded
    }

    private func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
