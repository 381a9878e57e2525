import CloudKitWire
import Foundation

#if canImport(Glibc)
    import Glibc

    /// A server that takes requests, says so much of an answer, and then says nothing for ever.
    final class SilentServer: Sendable {
        /// What it says.
        enum Words: Sendable {
            /// At once.
            case all(String)
            /// It takes no connection: what is sent to it does not leave.
            case unreachable
        }

        struct NotStarted: Error {}

        let url: URL
        /// Every request, once all of it has come and the answer's words have left.
        let answered: AsyncStream<Void>
        private let tell: AsyncStream<Void>.Continuation
        private let words: Words
        private let listener: Int32
        /// Connections that stay open as long as the server.
        private let open = Locked<[Int32]>([])

        init(_ words: Words) throws {
            self.words = words
            (answered, tell) = AsyncStream.makeStream()
            let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            listener = listening
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(listening, address, size) == 0 && listen(listening, 0) == 0
                        && getsockname(listening, address, &size) == 0
                }
            }
            guard isBound,
                let url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
            else { throw NotStarted() }
            self.url = url
            if case .unreachable = words {
                fill(address)
            } else {
                Thread.detachNewThread {
                    while true {
                        let client = accept(listening, nil, nil)
                        guard client >= 0 else { return }
                        self.open.withLock { $0.append(client) }
                        Thread.detachNewThread { self.answer(client) }
                    }
                }
            }
        }

        /// Ends it, and all connections; a server that is not stopped lives on.
        func stop() {
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
            for client in open.withLock({ $0 }) {
                if case .all = words { waitUntilHungUp(client) }
                close(client)
            }
        }

        /// Waits, for ten seconds at most, until the client has let go of a connection.
        ///
        /// Foundation's session ends the process when a connection ends in the middle of a head and it has not yet
        /// carried out that its request was cancelled.
        private func waitUntilHungUp(_ client: Int32) {
            var limit = timeval(tv_sec: 10, tv_usec: 0)
            setsockopt(
                client, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            var piece = [UInt8](repeating: 0, count: 65_536)
            while read(client, &piece, piece.count) > 0 {}
        }

        /// Takes the places of connections that nobody accepts, so that the system lets no more in.
        private func fill(_ address: sockaddr_in) {
            for _ in 0..<4 {
                let client = socket(
                    AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
                var address = address
                _ = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
                open.withLock { $0.append(client) }
            }
        }

        private func answer(_ client: Int32) {
            guard FaultyProxy.message(from: client) != nil, case .all(let text) = words else {
                return
            }
            say(text, to: client)
            tell.yield()
        }

        /// Says more to all who are connected.
        func say(_ text: String) {
            for client in open.withLock({ $0 }) { say(text, to: client) }
        }

        private func say(_ text: String, to client: Int32) {
            let bytes = Array(text.utf8)
            _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
    }
#endif
