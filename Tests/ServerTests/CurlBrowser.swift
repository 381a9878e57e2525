import Foundation
import Testing

/// A browser made of curl, which keeps its cookies in a file.
protocol CurlBrowser {
    var server: ServerProcess { get }
    /// Where the cookies are.
    var jar: String { get }
}

extension CurlBrowser {
    func get(_ path: String) throws -> (status: Int, body: String, text: String) {
        try server.request(path, ["-b", jar, "-c", jar])
    }

    /// Sends the form of a page.
    @discardableResult
    func send(
        _ path: String, _ fields: [String: String]
    ) throws -> (status: Int, body: String, text: String) {
        let page = try get(path).body
        let start = try #require(page.range(of: "name=\"guard\" value=\""))
        let token = page[start.upperBound...].prefix { $0 != "\"" }
        let options = (["guard": String(token)].merging(fields) { $1 })
            .flatMap { ["--data-urlencode", "\($0.key)=\($0.value)"] }
        return try server.request(path, ["-b", jar, "-c", jar] + options)
    }
}
