import CloudModel
import HTTP

/// The methods that an address takes (rulings.md 1).
///
/// Anything else is refused with 405 and `Allow`, so that what a cache, a crawler or a proxy sends by
/// itself changes nothing.
struct AllowedMethods: Sendable {
    /// As `Allow` lists them.
    let text: String
    private let methods: [HTTPRequest.Method]

    /// What is asked for in a body.
    static let post = AllowedMethods("POST, OPTIONS", [.post])
    /// What can be read without a body.
    static let bodilessRead = AllowedMethods("GET, HEAD, POST, OPTIONS", [.get, .head, .post])
    /// What waits for notices.
    static let courier = AllowedMethods("GET, OPTIONS", [.get])
    /// The file of an asset.
    static let file = AllowedMethods("GET, HEAD, OPTIONS", [.get, .head])
    /// Where an asset is uploaded, in one piece or by tus.
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
    /// Refuses a method that the address does not take.
    func refuseMethod(_ allowed: AllowedMethods) {
        moreHeaders.append(("Allow", allowed.text))
        fail(.badRequest("method not allowed; expected one of \(allowed.text)"), status: 405)
    }
}
