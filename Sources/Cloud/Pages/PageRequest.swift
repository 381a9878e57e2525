import Accounts
import CloudModel
import HTTP

/// A request for a page, read as far as every page needs it.
struct PageRequest: Sendable {
    let id: String
    let isPost: Bool
    /// The segments of the path, without percent-encoding.
    let path: [String]
    /// The target as received, for a form that comes back to where it was shown.
    let target: String
    let query: FormFields
    let form: FormFields
    let headers: HTTPHeaders
    let cookies: Cookies
    let body: [UInt8]
    /// The blocks of addresses that it counts to; nil for a proxy that says nothing of its clients.
    let client: NetworkOrigin?
    let now: Milliseconds

    init(_ request: HTTPRequest, isSecure: Bool, now: Milliseconds) {
        id = request.id
        isPost = request.method == .post
        let path = request.target.prefix { $0 != UInt8(ascii: "?") }
        self.path = path.split(separator: UInt8(ascii: "/")).map {
            String(decoding: $0, as: UTF8.self)
        }
        target = String(decoding: request.target, as: UTF8.self)
        query = FormFields(request.target.dropFirst(path.count + 1))
        form = FormFields(isPost ? request.body : [])
        headers = request.headers
        cookies = Cookies(header: request.headers["cookie"], areSecure: isSecure)
        body = request.body
        let isProxy = request.peer.isTrustedProxy && request.client == request.peer.block
        client = isProxy ? nil : request.client.map(Self.origin) ?? "this machine"
        self.now = now
    }

    private static func origin(_ block: ClientBlock) -> NetworkOrigin {
        NetworkOrigin("\(block)", within: block.wider.map { "\($0)" })
    }

    /// The language that the address asks for; nil where it asks for none.
    var chosenLanguage: String? { query["lang"] }

    /// What the browser is, in a few words that its owner knows it by.
    var device: String {
        let agent = headers["user-agent"] ?? ""
        let systems = [
            ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("CrOS", "ChromeOS"),
            ("Macintosh", "Mac"), ("Windows", "Windows"), ("Linux", "Linux"),
        ]
        let browsers = [
            ("Firefox/", "Firefox"), ("Edg/", "Edge"), ("OPR/", "Opera"), ("Chrome/", "Chrome"),
            ("CriOS/", "Chrome"), ("Safari/", "Safari"),
        ]
        let system = systems.first { agent.contains($0.0) }?.1
        let browser = browsers.first { agent.contains($0.0) }?.1
        return [browser, system].compactMap { $0 }.joined(separator: ", ")
    }
}
