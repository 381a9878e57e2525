import CloudKitWire
import Foundation

#if canImport(Glibc)
    import Glibc

    /// One connection whose answer goes on for as long as a test wants.
    final class StreamingServer: Sendable {
        private let client = Locked<Int32>(-1)
        /// Signalled while there is a connection.
        private let connected = DispatchSemaphore(value: 0)
        private let listener: Int32
        let url: URL

        struct NotStarted: Error {}

        init() throws {
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let listening = listener
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(listening, address, size) == 0 && listen(listening, 1) == 0
                        && getsockname(listening, address, &size) == 0
                }
            }
            let port = UInt16(bigEndian: address.sin_port)
            guard isBound, let url = URL(string: "http://127.0.0.1:\(port)/") else {
                throw NotStarted()
            }
            self.url = url
            Thread.detachNewThread { [self] in serve() }
        }

        private func serve() {
            let accepted = accept(listener, nil, nil)
            var piece = [UInt8](repeating: 0, count: 65_536)
            guard accepted >= 0, read(accepted, &piece, piece.count) > 0 else { return }
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            _ = Glibc.send(accepted, head, head.utf8.count, Int32(MSG_NOSIGNAL))
            client.withLock { $0 = accepted }
            connected.signal()
        }

        /// Sends a piece of the answer; waits up to ten seconds for the connection.
        func send(_ text: String) {
            if connected.wait(timeout: .now() + 10) == .success { connected.signal() }
            client.withLock {
                _ = Glibc.send($0, text, text.utf8.count, Int32(MSG_NOSIGNAL))
            }
        }

        /// Ends the answer.
        func stop() {
            client.withLock {
                if $0 >= 0 { close($0) }
                $0 = -1
                shutdown(listener, Int32(SHUT_RDWR))
            }
        }
    }
#endif
