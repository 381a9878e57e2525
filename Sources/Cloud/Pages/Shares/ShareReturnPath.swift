/// The page of a share that people go back to after they have signed in.
///
/// The browser holds it sealed, or a letter's link leads to it. So nobody else can choose where people go, and
/// it is always a page of a share on this server.
struct ShareReturnPath: Equatable {
    private static let root = "/share/"
    /// More than any link has.
    private static let linkBytesMax = 200

    /// The address without scheme and host, such as `/share/0ab…`.
    let path: String

    /// Nil for anything but the path of a share's page.
    init?(_ path: String?) {
        guard let path, path.hasPrefix(Self.root) else { return nil }
        let link = path.utf8.dropFirst(Self.root.utf8.count)
        guard (1...Self.linkBytesMax).contains(link.count), link.allSatisfy(Self.isOfALink) else {
            return nil
        }
        self.path = path
    }

    init?(link: String) { self.init(Self.root + link) }

    /// Letters and digits of URLs' base64, and the sign before a secret.
    private static func isOfALink(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension Pages {
    /// How long a person may take to come back to the share's page.
    private static let returnSeconds = 3_600

    /// The address of a page that leads back to the page of a share in the end.
    func address(_ path: String, leadingTo returnPath: ShareReturnPath?, _ visit: Visit) -> String {
        guard let returnPath else { return path }
        let pageToken = accountUseCases.pageTokens.make(
            .returnPath, [returnPath.path], browser: visit.browser, seconds: Self.returnSeconds,
            now: visit.request.now)
        return "\(path)?to=\(pageToken)"
    }

    /// The path that the address of such a page holds; nil for none, another browser's and one of long ago.
    func returnPath(_ visit: Visit) -> ShareReturnPath? {
        let kept = accountUseCases.pageTokens.open(
            visit.request.query["to"], .returnPath, browser: visit.browser, now: visit.request.now)
        return ShareReturnPath(kept?.first)
    }
}
