import Foundation

/// A blocking HTTP connection that stays open, for a client that has a thread of its own.
final class WireConnection {
    /// What became of a request.
    enum Answer {
        case answered(status: Int, body: Data)
        /// The connection ended, or could not be made.
        case lost(String)
    }

    /// The longest that an answer may take; a server that hangs is as broken as one that forgets.
    static let answerSecondsMax = 120

    private let port: UInt16
    private var descriptor: Int32 = -1

    /// - Parameter address: as the server's log has it, on 127.0.0.1.
    init(address: String) {
        port = UInt16(address.split(separator: ":").last ?? "") ?? 0
    }

    deinit { disconnect() }

    /// - Parameter headers: further lines of the head, each with its end.
    func send(
        _ method: String, _ target: String, _ body: String, _ headers: String = ""
    ) -> Answer {
        if descriptor < 0, let failure = connectSocket() { return .lost(failure) }
        let head =
            "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\(headers)\r\n"
        guard write(Array((head + body).utf8)) else { return lose("sending failed") }
        return receive()
    }

    /// Sends a request whose answer others wait for; false when it cannot be sent.
    ///
    /// - Parameter headers: further lines of the head, each with its end.
    func begin(
        _ method: String, _ target: String, _ headers: String = "", body: String = ""
    ) -> Bool {
        if descriptor < 0, connectSocket() != nil { return false }
        let head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(headers)\r\n"
        return write(Array((head + body).utf8))
    }

    /// All that has come, once it is what is waited for; nil when that does not come.
    func text(_ isWhole: (String) -> Bool) -> String? {
        var received: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { return nil }
            received += piece[..<count]
            let text = String(decoding: received, as: UTF8.self)
            if isWhole(text) { return text }
        }
    }

    /// Ends the connection, by a reset or in order.
    func end(isReset: Bool = false) {
        if isReset {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(
                descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        disconnect()
    }

    private func lose(_ why: String) -> Answer {
        let text = "\(why) (\(String(cString: strerror(errno))))"
        disconnect()
        return .lost(text)
    }

    private func disconnect() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    private func connectSocket() -> String? {
        #if canImport(Glibc)
            let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let made = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard made >= 0 else { return "no socket" }
        var limit = timeval(tv_sec: Self.answerSecondsMax, tv_usec: 0)
        setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(made, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else {
            close(made)
            return "connection refused"
        }
        var one: Int32 = 1
        setsockopt(made, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        descriptor = made
        return nil
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Self.noSignal)
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    #if canImport(Glibc)
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #else
        private static let noSignal: Int32 = 0
    #endif

    private func receive() -> Answer {
        var received = Data()
        var piece = [UInt8](repeating: 0, count: 65_536)
        var end: Data.Index?
        var length = 0
        var status = 0
        while true {
            if let end, received.count - end >= length {
                return .answered(status: status, body: received[end..<(end + length)])
            }
            let count = recv(descriptor, &piece, piece.count, 0)
            if count == 0 { return lose("closed") }
            if count < 0 {
                let isLate = errno == EAGAIN || errno == EWOULDBLOCK
                return lose(isLate ? "no answer in \(Self.answerSecondsMax) s" : "reset")
            }
            received.append(contentsOf: piece[..<count])
            if end == nil, let found = received.range(of: Data("\r\n\r\n".utf8)) {
                end = found.upperBound
                (status, length) = Self.parse(received[..<found.lowerBound])
            }
        }
    }

    private static func parse(_ head: Data) -> (status: Int, length: Int) {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        let status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
        let digits = length?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
        return (status, Int(digits ?? "") ?? 0)
    }
}
