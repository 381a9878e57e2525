import CloudModel
import HTTP

/// The methods that an address accepts (rulings.md 1).
///
/// Any other method is refused with 405 and `Allow`. So caches, crawlers and proxies change nothing by the
/// requests that they send by themselves.
struct AllowedMethods: Sendable {
    /// The methods in the form of the header `Allow`.
    let text: String
    private let methods: [HTTPRequest.Method]

    /// For endpoints whose request is in a body.
    static let post = AllowedMethods("POST, OPTIONS", [.post])
    /// For endpoints that can be read without a body.
    static let bodilessRead = AllowedMethods("GET, HEAD, POST, OPTIONS", [.get, .head, .post])
    /// For waiting for notices.
    static let courier = AllowedMethods("GET, OPTIONS", [.get])
    /// For the file of an asset.
    static let file = AllowedMethods("GET, HEAD, OPTIONS", [.get, .head])
    /// For uploading an asset, in one piece or by tus.
    static let upload = AllowedMethods(
        "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
        [.get, .head, .post, .put, .other("PATCH"), .delete])

    private init(_ text: String, _ methods: [HTTPRequest.Method]) {
        self.text = text
        self.methods = methods
    }

    func contains(_ method: HTTPRequest.Method) -> Bool { methods.contains(method) }
}

extension Exchange {
    /// Refuses a request by a method that the address does not accept.
    func refuseMethod(_ allowed: AllowedMethods) {
        note { $0.moreHeaders.append(("Allow", allowed.text)) }
        fail(.badRequest("method not allowed; expected one of \(allowed.text)"), status: 405)
    }
}
