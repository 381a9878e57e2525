import Awaiting
import Foundation

/// Takes posts on a port of its own and answers each with a status, in a thread of its own.
final class PostReceiver: @unchecked Sendable {
    // Unchecked: what has come is touched under the condition only.

    let port: UInt16
    private let listener: Int32
    private let condition = NSCondition()
    private var requests: [Data] = []
    private var isHolding: Bool
    private var status: String

    /// - Parameter holds: answers nobody before `release`.
    init(answering status: String, holds: Bool = false) throws {
        isHolding = holds
        self.status = status
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw CocoaError(.fileReadUnknown) }
        port = UInt16(bigEndian: address.sin_port)
        let thread = Foundation.Thread { [weak self] in
            // Closed here and nowhere else: its number may be another test's socket right after that.
            defer { close(listener) }
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0, errno == EINTR { continue }
                guard connection >= 0 else { return }
                // Whoever is held keeps no other from being taken.
                Foundation.Thread.detachNewThread { [weak self] in
                    defer { close(connection) }
                    // Whoever is killed while it sends has sent nothing.
                    guard let request = Self.request(on: connection) else { return }
                    guard let answer = self?.answer(to: request) else { return }
                    _ = answer.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
                }
            }
        }
        thread.start()
    }

    deinit {
        // `accept` comes back, also when it is called only after this.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Head and body of the next request.
    ///
    /// - Throws: when none comes in time.
    func next(withinSeconds seconds: Int = Wait.seconds) throws -> (head: String, body: Data) {
        condition.lock()
        defer { condition.unlock() }
        let deadline = Date(timeIntervalSinceNow: Double(seconds))
        while requests.isEmpty {
            guard condition.wait(until: deadline) else { throw CocoaError(.fileReadUnknown) }
        }
        let request = requests.removeFirst()
        let end = request.range(of: Data("\r\n\r\n".utf8))?.upperBound ?? request.endIndex
        return (String(decoding: request[..<end], as: UTF8.self), Data(request[end...]))
    }

    /// Has the posts that come from now on answered with another status.
    func answer(with status: String) {
        condition.lock()
        self.status = status
        condition.unlock()
    }

    /// Has all posts answered, also those that wait for it.
    func release() {
        condition.lock()
        isHolding = false
        condition.broadcast()
        condition.unlock()
    }

    /// Takes a request, and waits until it may be answered: for a minute at most, so that no test hangs.
    private func answer(to request: Data) -> [UInt8] {
        condition.lock()
        defer { condition.unlock() }
        // Who has taken the request from here may change the answer to the next.
        let status = status
        requests.append(request)
        condition.broadcast()
        let deadline = Date(timeIntervalSinceNow: 60)
        while isHolding, condition.wait(until: deadline) {}
        return Array(
            "HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8)
    }

    /// Reads a head and a body of the length that it names; nil when the connection ends before.
    private static func request(on connection: Int32) -> Data? {
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(
            connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var request = Data()
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let end = request.range(of: Data("\r\n\r\n".utf8))?.upperBound {
                let head = String(decoding: request[..<end], as: UTF8.self).lowercased()
                let length = head.split(separator: "\r\n")
                    .first { $0.hasPrefix("content-length: ") }
                    .flatMap { Int($0.dropFirst(16)) }
                if request.count - end >= length ?? 0 { return request }
            }
            let count = read(connection, &piece, piece.count)
            guard count > 0 else { return nil }
            request += piece[..<count]
        }
    }
}
