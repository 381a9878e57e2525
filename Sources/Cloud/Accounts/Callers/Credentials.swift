import Cryptography
import Platform

/// The credentials of one request, as received and not yet checked.
///
/// The body is hashed when a signature has to be verified, not before.
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
    /// The name of a parameter or header that came more than once, so that it is not clear which one counts.
    let repeatedName: String?
    /// Nil when none of the headers is there.
    let signature: Signature?
    let origin: String?
    /// The request target exactly as received.
    let target: [UInt8]
    let body: SignedBody

    /// Whether a signature is the request's only credential.
    package var areSignature: Bool {
        signature != nil && apiToken == nil && webToken == nil && repeatedName == nil
    }

    /// Takes what the request has of each; headers as their values.
    ///
    /// In the query, `+` stands for itself. In the web token, a space stands for `+`. So the server
    /// understands clients that encode once too little or too much (web-services.md §2.3).
    ///
    /// - Parameter repeatedHeader: the name of a header of these that came more than once.
    package init(
        query: QueryString, keyID: String? = nil, date: String? = nil,
        signature: String? = nil, webToken header: String? = nil, repeatedHeader: String? = nil,
        origin: String? = nil, body: SignedBody = .bytes([])
    ) {
        let given = CredentialQuery(query)
        apiToken = given.apiToken.flatMap { $0.isEmpty ? nil : TokenBytes($0) }
        webToken = (given.webToken ?? header.map { Array($0.utf8) }.flatMap(CredentialQuery.token))
            .map { TokenBytes($0) }
        onBehalfOf = given.onBehalfOf
        repeatedName = given.repeatedName ?? repeatedHeader
        if keyID == nil, date == nil, signature == nil {
            self.signature = nil
        } else {
            self.signature = Signature(
                keyID: keyID ?? "", date: date ?? "", signature: signature ?? "")
        }
        self.origin = origin
        target = query.target
        self.body = body
    }
}

/// The body of a signed request, of which the signature covers the digest.
package enum SignedBody: Sendable {
    /// All of it, to be digested when a signature has to be verified.
    case bytes([UInt8])
    /// What was digested as it came in.
    ///
    /// - Parameter isDoubted: true when the signature could not be good, so that the bytes were
    ///   thrown away. The signature must then not count as good now.
    case digested([UInt8], byteCount: Int, isDoubted: Bool)

    var isEmpty: Bool {
        switch self {
        case .bytes(let bytes): bytes.isEmpty
        case .digested(_, let byteCount, _): byteCount == 0
        }
    }

    var isDoubted: Bool {
        if case .digested(_, _, let isDoubted) = self { isDoubted } else { false }
    }

    var digest: [UInt8] {
        switch self {
        case .bytes(let bytes): SHA256.digest(bytes)
        case .digested(let digest, _, _): digest
        }
    }
}

/// A token as presented, fast to look up by.
struct TokenBytes: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    // Tokens that are kept were made at random, so their ends tell them apart. An array hashes all of its
    // bytes one by one: that would cost more than the rest of a cached check.
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

/// What a query says about the caller.
private struct CredentialQuery {
    private(set) var apiToken: [UInt8]?
    private(set) var webToken: [UInt8]?
    private(set) var onBehalfOf: [UInt8]?
    private(set) var repeatedName: String?
    private var hasWebToken = false
    private var hasSession = false

    private static let names: [StaticString] = [
        "ckAPIToken", "ckWebAuthToken", "ckSession", "ckOnBehalfOf",
    ]

    init(_ query: QueryString) {
        query.forEach(named: Self.names) { index, value in
            let name = Self.names[index]
            switch index {
            case 0:
                if apiToken != nil { repeatedName = "\(name)" }
                apiToken = value.percentDecoded
            case 1:
                if hasWebToken { repeatedName = "\(name)" }
                hasWebToken = true
                take(webToken: value, name)
            case 2:
                if hasSession { repeatedName = "\(name)" }
                hasSession = true
                take(webToken: value, name)
            default:
                if onBehalfOf != nil { repeatedName = "\(name)" }
                onBehalfOf = value.percentDecoded
            }
        }
    }

    /// Takes a web token under either of its names; both may come, with one value.
    private mutating func take(webToken value: UnsafeRawBufferPointer, _ name: StaticString) {
        var decoded = value.percentDecoded
        let hasSpace = decoded.withUnsafeBytes { $0.index(of: UInt8(ascii: " "), from: 0) != nil }
        if hasSpace {
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
}
