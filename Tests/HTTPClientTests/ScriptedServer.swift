import Foundation
import HTTPClient
import Network
import Synchronization

/// A server of one thread that plays what a test has written, connection after connection.
final class ScriptedServer: Sendable {
    /// What is done on a connection, step by step; then it is closed.
    enum Step: Sendable {
        /// Reads until the bytes received since the last step end so, or hold so many.
        case readHead
        case readBytes(Int)
        case send([UInt8])
        /// Waits until the client closes or goes on.
        case readUntilEnd
    }

    let port: UInt16
    private let listener: Int32
    private let heads = Mutex<[String]>([])
    private let connections = Mutex(0)
    private let ended = DispatchSemaphore(value: 0)
    private let hasEnded = Atomic<Bool>(false)

    init(_ scripts: [[Step]]) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw ClientFailure.unreachable("bind") }
        Self.boundWaiting(of: listener)
        port = UInt16(bigEndian: address.sin_port)
        let thread = Foundation.Thread { [self] in
            for script in scripts {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                Self.boundWaiting(of: connection)
                connections.withLock { $0 += 1 }
                play(script, on: connection)
                close(connection)
            }
            hasEnded.store(true, ordering: .releasing)
            ended.signal()
        }
        thread.start()
    }

    deinit { close(listener) }

    /// A client that does not come, or says nothing, ends the script after a minute.
    private static func boundWaiting(of socket: Int32) {
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(
            socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    var origin: HTTPOrigin { HTTPOrigin(isSecure: false, host: "127.0.0.1", port: port) }

    /// The heads of requests, in order.
    var requests: [String] { heads.withLock { $0 } }

    var connectionCount: Int { connections.withLock { $0 } }

    /// Whether all scripts have been played.
    var isFinished: Bool { hasEnded.load(ordering: .acquiring) }

    /// Waits until all scripts have been played, for two minutes at most; how many connections there were.
    func finish() -> Int {
        // NB: when they have not been, the number tells.
        _ = ended.wait(timeout: .now() + 120)
        return connections.withLock { $0 }
    }

    private func play(_ script: [Step], on connection: Int32) {
        var waiting: [UInt8] = []
        for step in script {
            switch step {
            case .readHead:
                let end = Array("\r\n\r\n".utf8)
                while !waiting.contains(end) { guard more(connection, &waiting) else { return } }
                if let range = waiting.firstRange(of: end) {
                    let head = String(decoding: waiting[..<range.upperBound], as: UTF8.self)
                    heads.withLock { $0.append(head) }
                    waiting.removeSubrange(..<range.upperBound)
                }
            case .readBytes(let count):
                while waiting.count < count { guard more(connection, &waiting) else { return } }
                waiting.removeFirst(count)
            case .readUntilEnd: while more(connection, &waiting) {}
            case .send(let bytes):
                var sent = 0
                while sent < bytes.count {
                    let outcome = bytes[sent...].withUnsafeBytes {
                        Socket(descriptor: connection).send($0)
                    }
                    guard case .done(let count) = outcome else { return }
                    sent += count
                }
            }
        }
    }

    private func more(_ connection: Int32, _ waiting: inout [UInt8]) -> Bool {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(connection, &piece, piece.count, 0)
        if count > 0 { waiting += piece[..<count] }
        return count > 0
    }
}

extension ScriptedServer.Step {
    static func send(_ text: String) -> Self { .send(Array(text.utf8)) }
}
