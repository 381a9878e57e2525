import Accounts
import HTTP
import Synchronization

/// Notices that requests name another host than the links do that the server hands out.
///
/// So a proxy without `publicBaseURL` shows at its first request, and not when somebody follows a link
/// that leads nowhere. Told once: anybody may send any name.
final class LinkHost: Sendable {
    private static let shownBytesMax = 253

    private let expected: [UInt8]
    private let hasTold = Atomic(false)
    private let log: Log

    /// - Parameter baseURL: what links begin with.
    init(of baseURL: String, _ log: Log) {
        expected = Array((WebURL(baseURL)?.site ?? baseURL).lowercased().utf8)
        self.log = log
    }

    /// Looks at one request.
    ///
    /// Those for this machine itself tell nothing: checks of health are such.
    func look(at request: HTTPRequest) {
        guard !hasTold.load(ordering: .relaxed) else { return }
        let other: String? =
            request.headers.withValue("host") { host in
                guard !host.elementsEqual(expected) else { return nil }
                return String(decoding: host.prefix(Self.shownBytesMax), as: UTF8.self).lowercased()
            } ?? nil
        guard let other, !other.utf8.elementsEqual(expected), !Self.isThisMachine(other),
            !hasTold.exchange(true, ordering: .relaxed)
        else { return }
        log.warning(
            "links name another host than requests do: set publicBaseURL",
            [
                ("links", .text(String(decoding: expected, as: UTF8.self))),
                ("requests", .text(other)),
            ])
    }

    private static func isThisMachine(_ host: String) -> Bool {
        ["localhost", "127.0.0.1", "[::1]"].contains { host == $0 || host.hasPrefix("\($0):") }
    }
}
