import Awaiting
import Foundation
import Network

#if canImport(Glibc)
    import Glibc

    private let streamType = Int32(SOCK_STREAM.rawValue)
    private let connectSocket = Glibc.connect
    private let sendBytes = Glibc.send
    private let withoutSignal = Int32(MSG_NOSIGNAL)
#elseif canImport(Darwin)
    import Darwin

    private let streamType = SOCK_STREAM
    private let connectSocket = Darwin.connect
    private let sendBytes = Darwin.send
    private let withoutSignal: Int32 = 0
#endif

/// An answer as it came over the wire.
struct RawAnswer {
    var status: Int
    var fields: [(name: String, value: String)]
    var body: [UInt8]

    subscript(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name }?.value
    }

    var text: String { String(decoding: body, as: UTF8.self) }
}

/// A blocking client that sends bytes as they are; every wait ends after a while.
final class RawClient {
    struct Failure: Error { var what: String }

    let descriptor: Int32
    private var received: [UInt8] = []
    private(set) var hasEnded = false

    init(_ address: ListenAddress, receiveBufferBytes: Int32? = nil) throws {
        switch address {
        case .tcp(_, let port):
            descriptor = socket(AF_INET, streamType, 0)
            if var size = receiveBufferBytes {
                setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
            }
            var target = sockaddr_in()
            target.sin_family = sa_family_t(AF_INET)
            target.sin_port = port.bigEndian
            target.sin_addr.s_addr = inet_addr("127.0.0.1")
            try Self.connect(descriptor, &target, MemoryLayout<sockaddr_in>.size)
        case .unix(let path):
            descriptor = socket(AF_UNIX, streamType, 0)
            var target = sockaddr_un()
            target.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            try Self.connect(descriptor, &target, MemoryLayout<sockaddr_un>.size)
        }
        var limit = timeval(tv_sec: Wait.seconds, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    private static func connect<Address>(
        _ descriptor: Int32, _ address: inout Address, _ size: Int
    ) throws {
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connectSocket(descriptor, $0, socklen_t(size))
            }
        }
        if result != 0 { throw Failure(what: "connect: \(errno)") }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                sendBytes(descriptor, $0.baseAddress, $0.count, withoutSignal)
            }
            if count <= 0 { throw Failure(what: "send: \(errno)") }
            sent += count
        }
    }

    /// Has the connection end with a reset when this is closed.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Binds a Unix socket and listens to nobody.
    static func bindUnix(_ path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, streamType, 0)
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let result = withUnsafePointer(to: &target) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result != 0 { throw Failure(what: "bind: \(errno)") }
        return descriptor
    }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Receives some bytes; false at the end.
    func receiveMore() throws -> Bool {
        if hasEnded { return false }
        var piece = [UInt8](repeating: 0, count: 65536)
        var count = 0
        repeat {
            count = recv(descriptor, &piece, piece.count, 0)
        } while count < 0 && errno == EINTR
        if count < 0 && errno != ECONNRESET { throw Failure(what: "recv: \(errno)") }
        if count <= 0 {
            hasEnded = true
            return false
        }
        received += piece[..<count]
        return true
    }

    /// What has come and belongs to no answer yet.
    var seen: [UInt8] { received }

    func forget() { received = [] }

    /// Everything until the other side closes.
    func receiveToEnd() throws -> [UInt8] {
        while try receiveMore() {}
        defer { received = [] }
        return received
    }

    /// True when the other side closes without a further byte.
    func isClosedByPeer() throws -> Bool {
        while try receiveMore() {}
        return received.isEmpty
    }

    /// The next answer; `toHead` when it has no body whatever its length says.
    func answer(toHead: Bool = false) throws -> RawAnswer {
        var end = Self.headEnd(received)
        while end == nil {
            guard try receiveMore() else { throw Failure(what: "ended within a head") }
            end = Self.headEnd(received)
        }
        let headEnd = end ?? 0
        let lines = String(decoding: received[..<headEnd], as: UTF8.self)
            .components(separatedBy: "\r\n")
        received.removeFirst(headEnd)
        var answer = RawAnswer(status: 0, fields: [], body: [])
        answer.status = Int(lines[0].split(separator: " ")[1]) ?? 0
        for line in lines.dropFirst() where !line.isEmpty {
            let parts = line.split(separator: ":", maxSplits: 1)
            answer.fields.append(
                (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)))
        }
        if toHead || answer.status < 200 || answer.status == 204 { return answer }
        if answer["transfer-encoding"] == "chunked" {
            answer.body = try chunkedBody()
        } else {
            answer.body = try take(Int(answer["content-length"] ?? "0") ?? 0)
        }
        return answer
    }

    private func take(_ count: Int) throws -> [UInt8] {
        while received.count < count {
            guard try receiveMore() else { throw Failure(what: "ended within a body") }
        }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }

    private func chunkedBody() throws -> [UInt8] {
        var body: [UInt8] = []
        while true {
            var line: [UInt8] = []
            while line.suffix(2) != [13, 10] { line += try take(1) }
            let size = Int(String(decoding: line.dropLast(2), as: UTF8.self), radix: 16) ?? -1
            if size < 0 { throw Failure(what: "bad chunk size") }
            body += try take(size)
            guard try take(2) == [13, 10] else { throw Failure(what: "bad chunk end") }
            if size == 0 { return body }
        }
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBufferPointer { bytes in
            var at = 3
            while at < bytes.count {
                if bytes[at] == 10, bytes[at - 1] == 13, bytes[at - 2] == 10, bytes[at - 3] == 13 {
                    return at + 1
                }
                at += 1
            }
            return nil
        }
    }
}
