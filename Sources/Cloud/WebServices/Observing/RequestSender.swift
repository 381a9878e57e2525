import Accounts
import HTTP
import Platform

/// What a request says of the app and the device that sent it; read when somebody asks.
package struct RequestSender: Sendable {
    private let headers: HTTPHeaders?
    private let query: QueryString?
    /// A hash of all that `software` is read from, by which it can be remembered.
    package let softwareHash: UInt64

    init(_ request: HTTPRequest, _ query: QueryString) {
        let headers = request.headers
        self.headers = headers
        self.query = query
        var hash = ShortHash()
        headers.withValue(of: "user-agent") { hash.add($0, max: ClientSoftware.agentBytesMax) }
        query.withValue("ckjsVersion") { hash.add($0, max: 64) }
        softwareHash = hash.value
    }

    /// One that says nothing.
    package init() {
        headers = nil
        query = nil
        softwareHash = 0
    }

    /// The `clientId` that a device has given itself; nil where it sent none.
    package var device: String? { query.flatMap { DeviceName.read($0) } }

    /// The `traceparent` that came with it, unread.
    package var traceParent: String? { headers?["traceparent"] }

    /// The app or browser, and the library that it uses.
    package var software: ClientSoftware {
        ClientSoftware(
            agent: headers?["user-agent"] ?? "", scriptVersion: query?.text("ckjsVersion"))
    }

    /// Runs the body on the `clientId` without making a text; not where there is none that could be one.
    package func withDevice(_ body: (UnsafeRawBufferPointer) -> Void) {
        if let query { DeviceName.withBytes(of: query, body) }
    }
}

/// A hash of a few short texts, eight bytes at a time.
private struct ShortHash {
    private(set) var value: UInt64 = 0x9e37_79b9_7f4a_7c15

    private mutating func add(_ word: UInt64) {
        let product = (value ^ word).multipliedFullWidth(by: 0xd6e8_feb8_6659_fd93)
        value = product.high ^ product.low
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer, max: Int) {
        let count = min(bytes.count, max)
        add(UInt64(count))
        var offset = 0
        while offset + 8 <= count {
            add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var last: UInt64 = 0
        while offset < count {
            last = last << 8 | UInt64(bytes[offset])
            offset += 1
        }
        add(last)
    }
}

/// What software sent a request, as its `User-Agent` and its parameters tell.
///
/// All of it is the client's own word: bounded, and only of characters that need no escape.
package struct ClientSoftware: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        /// A page with Apple's script or the JavaScript client; the version is the script's.
        case web
        /// An app on Apple's systems.
        case apple
        /// A program with the Swift client on Linux.
        case swift
        /// A browser without either script.
        case browser
        /// Something else that tells its name, such as curl.
        case tool
        case unknown
    }

    package let kind: Kind
    /// Such as `Notes`, `Safari` or `curl`; empty where nothing tells.
    package let name: String
    /// Empty where nothing tells.
    package let version: String

    static let agentBytesMax = 256
    private static let nameBytesMax = 32
    private static let versionBytesMax = 16

    package init(kind: Kind, name: String, version: String) {
        self.kind = kind
        self.name = Self.plain(name, Self.nameBytesMax)
        self.version = Self.plain(version, Self.versionBytesMax)
    }

    package init(agent sent: String, scriptVersion: String? = nil) {
        let agent = String(decoding: sent.utf8.prefix(Self.agentBytesMax), as: UTF8.self)
        if let scriptVersion {
            self.init(kind: .web, name: Self.browser(agent) ?? "script", version: scriptVersion)
            return
        }
        let (name, version) = Self.product(agent)
        if agent.contains(" CFNetwork/") {
            self.init(kind: .apple, name: name, version: version)
        } else if agent.contains(" (unknown version) curl/") {
            self.init(kind: .swift, name: name, version: "")
        } else if let browser = Self.browser(agent) {
            self.init(kind: .browser, name: browser, version: Self.version(of: browser, agent))
        } else {
            self.init(kind: name.isEmpty ? .unknown : .tool, name: name, version: version)
        }
    }

    /// In one word, as lists show it.
    package var text: String {
        let words = version.isEmpty ? name : "\(name) \(version)"
        return words.isEmpty ? kind.rawValue : "\(words) (\(kind.rawValue))"
    }

    /// The first product of a `User-Agent`.
    private static func product(_ agent: String) -> (name: String, version: String) {
        let first = agent.utf8.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "(") }
        var name = String(decoding: first, as: UTF8.self)
        while name.utf8.last == UInt8(ascii: " ") { name.removeLast() }
        let rest = agent.utf8.dropFirst(first.count)
        guard rest.first == UInt8(ascii: "/") else { return (name, "") }
        return (name, String(decoding: rest.dropFirst().prefix { $0 > 0x20 }, as: UTF8.self))
    }

    /// The words by which browsers tell themselves; the first that is there counts.
    private static let browsers = [
        ("Firefox", "Firefox/"), ("Edge", "Edg/"), ("Opera", "OPR/"), ("Chrome", "Chrome/"),
        ("Chrome", "CriOS/"), ("Safari", "Version/"), ("Safari", "Safari/"),
    ]

    private static func browser(_ agent: String) -> String? {
        guard agent.hasPrefix("Mozilla/") else { return nil }
        return browsers.first { agent.contains($0.1) }?.0 ?? "browser"
    }

    /// The main number of a browser's version.
    private static func version(of browser: String, _ agent: String) -> String {
        for (name, word) in browsers where name == browser {
            guard let range = agent.firstRange(of: word) else { continue }
            let digits = agent[range.upperBound...].utf8.prefix { (0x30...0x39).contains($0) }
            return String(decoding: digits, as: UTF8.self)
        }
        return ""
    }

    private static func plain(_ text: String, _ bytesMax: Int) -> String {
        let bytes = text.utf8.prefix(bytesMax).filter {
            (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
