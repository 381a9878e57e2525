import Configuration
import Cryptography
import HTTP
import Network
import Storage
import WebServices

/// What the server tells programs of itself: `/openapi.json` and `/capabilities`, the same to everybody.
package struct DescriptionPages: Sendable {
    private struct Page {
        let body: [UInt8]
        /// Names this text and no other (RFC 9110 section 8.8.3).
        let tag: String

        init(_ body: [UInt8]) {
            self.body = body
            tag = "\"\(Hexadecimal.encode(SHA256.digest(body)).prefix(32))\""
        }
    }

    private let openAPI: Page
    private let capabilities: Page

    package init(_ description: InterfaceDescription) {
        openAPI = Page(description.openAPI)
        capabilities = Page(description.capabilities)
    }

    /// Whether an address, without its query, is one of these.
    func isOne(_ path: ArraySlice<UInt8>) -> Bool { page(at: path) != nil }

    /// The answer to a request for one of them.
    func response(to request: HTTPRequest) -> HTTPResponse? {
        guard let page = page(at: request.target.prefix { $0 != UInt8(ascii: "?") }) else {
            return nil
        }
        let headers = [
            ("Content-Type", "application/json"), ("Cache-Control", "no-cache"),
            ("ETag", page.tag), ("Access-Control-Allow-Origin", "*"),
            ("X-Content-Type-Options", "nosniff"),
        ]
        let isKnown = request.headers["if-none-match"]?.contains(page.tag) ?? false
        return HTTPResponse(
            status: isKnown ? 304 : 200, headers: headers, body: isKnown ? [] : page.body)
    }

    private func page(at path: ArraySlice<UInt8>) -> Page? {
        if path.elementsEqual("/openapi.json".utf8) { return openAPI }
        return path.elementsEqual("/capabilities".utf8) ? capabilities : nil
    }
}

extension RunningServer {
    /// What a data folder's server tells of itself.
    ///
    /// - Parameters:
    ///   - configuration: the folder's, with the ports that are in use.
    ///   - console: told of where the settings open it.
    static func descriptionPages(
        on folder: DataFolder, _ configuration: ServerConfiguration, _ console: DescribedConsole?
    ) -> DescriptionPages {
        let isOpen = ListenAddress(configuration.console.listen) != nil
        let kinds: [(String, DestinationKind)] = [
            ("courier", .courier), ("webPush", .webPush), ("apns", .apns), ("webhook", .webhook),
        ]
        return DescriptionPages(
            InterfaceDescription(
                folder.limits,
                of: InterfaceDescription.ServerFacts(
                    version: ProgramVersion.text, baseURL: configuration.baseURL,
                    signUp: configuration.accounts.signUp.rawValue,
                    clientPath: "\(ClientFiles.folder)/cloudkit.js",
                    destinations: kinds.filter { ApplePushSupport.isBuilt || $0.1 != .apns }
                        .map(\.0),
                    furtherLimits: [
                        ("bodyBytesMax", Int64(configuration.http.bodyBytesMax)),
                        ("assetBytesMax", Int64(configuration.assets.bytesMax)),
                    ], beside: isOpen ? console.map(InterfacePart.init) : nil)))
    }
}

extension InterfacePart {
    fileprivate init(_ console: DescribedConsole) {
        func members(_ found: [DescribedConsole.Member]) -> [Member] {
            found.map { ($0.name, $0.json) }
        }
        self.init(
            paths: members(console.paths), schemas: members(console.schemas),
            securitySchemes: members(console.securitySchemes))
    }
}
