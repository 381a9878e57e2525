#if PostgreSQL
    import Foundation
    import Synchronization

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// Stands between a client and a server, and cuts connections at a word that the client sends, or at one of its
    /// messages, or lets nothing through any more.
    package final class CuttingProxy: Sendable {
        package enum Cut: Sendable {
            /// What has the word does not come to the server.
            case before
            /// It does, and the answer does not come back.
            case after
        }

        private struct State {
            var cut: (word: [UInt8], Cut)?
            /// How many messages go on before one does not, and its connection is cut.
            var messagesLeft: Int?
            var messages = 0
            var cuts = 0
            var longestAnswer = 0
            /// Clients that are connected.
            var clients: Set<Int32> = []
        }

        /// In the place of the server's folder.
        package let folder: String
        /// Where it listens on 127.0.0.1, too.
        package let port: UInt16
        private let target: String
        private let listeners: [Int32]
        private let state = Mutex(State())
        private let silence = Silence()

        /// - Parameter standby: whether it leads to the server's standby.
        package init(before server: PostgreSQLServer, standby: Bool = false) throws {
            folder = server.folder + "-proxy-\(UUID().uuidString.prefix(4))"
            target = server.folder + (standby ? "/standby-socket" : "") + "/.s.PGSQL.5432"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            let listener = try Self.socket(at: folder + "/.s.PGSQL.5432") { bind($0, $1, $2) }
            let (other, port) = try Self.socketAtAnyPort()
            (listeners, self.port) = ([listener, other], port)
            for listener in listeners {
                guard listen(listener, 64) == 0 else { throw POSIXError(.EIO) }
                takeClients(of: listener)
            }
        }

        private func takeClients(of listener: Int32) {
            let (target, silence) = (target, silence)
            Thread.detachNewThread { [weak self] in
                while true {
                    let client = accept(listener, nil, nil)
                    guard client >= 0 else { return }
                    silence.waitForEnd()
                    guard let self else { return }
                    guard let server = try? Self.socket(at: target, { connect($0, $1, $2) }) else {
                        close(client)
                        continue
                    }
                    self.carry(client, server)
                }
            }
        }

        deinit {
            silence.end()
            for listener in listeners {
                _ = shutdown(listener, Int32(SHUT_RDWR))
                close(listener)
            }
            try? FileManager.default.removeItem(atPath: folder)
        }

        /// Cuts the next connection that sends a word.
        package func cut(_ cut: Cut, at word: String) {
            state.withLock { $0.cut = (Array(word.utf8), cut) }
        }

        /// Cuts the connection that sends a message, counted from now on over all connections, before it comes to the
        /// server; nil for none.
        package func cut(beforeMessage number: Int?) {
            state.withLock { $0.messagesLeft = number }
        }

        /// How many messages clients have sent.
        package var messages: Int { state.withLock { $0.messages } }

        /// Cuts every connection that there is.
        package func cutAll() {
            state.withLock { state in
                for client in state.clients { _ = shutdown(client, Int32(SHUT_RDWR)) }
            }
        }

        /// Takes nothing from now on and closes nothing, as a network that has gone, until `speak`.
        package func fallSilent() { silence.begin() }

        /// Ends the silence; what was sent meanwhile goes on.
        package func speak() { silence.end() }

        package var cuts: Int { state.withLock { $0.cuts } }

        /// The most bytes that a client was sent before it sent something again, since `forgetAnswers`.
        package var longestAnswer: Int { state.withLock { $0.longestAnswer } }

        package func forgetAnswers() { state.withLock { $0.longestAnswer = 0 } }

        /// How many of the bytes that a client has sent go on, and whether the connection is cut behind them.
        private func take(
            _ bytes: ArraySlice<UInt8>, _ messages: inout ClientMessages
        ) -> (passes: Int, isCut: Bool) {
            let starts = messages.starts(in: bytes)
            let cutAt: Int? = state.withLock { state in
                state.messages += starts.count
                guard let left = state.messagesLeft else { return nil }
                state.messagesLeft = left < starts.count ? nil : left - starts.count
                guard left < starts.count else { return nil }
                state.cuts += 1
                return starts[left] - bytes.startIndex
            }
            if let cutAt { return (cutAt, true) }
            switch cut(in: bytes) {
            case .before: return (0, true)
            case .after: return (bytes.count, true)
            case nil: return (bytes.count, false)
            }
        }

        private func cut(in bytes: ArraySlice<UInt8>) -> Cut? {
            state.withLock { state in
                guard let (word, cut) = state.cut, Data(bytes).range(of: Data(word)) != nil else {
                    return nil
                }
                state.cut = nil
                state.cuts += 1
                return cut
            }
        }

        private func carry(_ client: Int32, _ server: Int32) {
            state.withLock { _ = $0.clients.insert(client) }
            let isCut = Atomic(false)
            let ends = Ends(isCut: isCut, answered: Atomic(0))
            Thread.detachNewThread {
                var messages = ClientMessages()
                self.copy(from: client, to: server) { bytes in
                    ends.answered.store(0, ordering: .relaxed)
                    let (passes, isCut) = self.take(bytes, &messages)
                    guard isCut else { return passes }
                    ends.isCut.store(true, ordering: .sequentiallyConsistent)
                    _ = shutdown(client, Int32(SHUT_RDWR))
                    return passes
                }
                // The server still does what it was sent, and then finds that nobody is there.
                _ = shutdown(server, Int32(SHUT_WR))
            }
            Thread.detachNewThread {
                self.copy(from: server, to: client) { bytes in
                    let sum = ends.answered.add(bytes.count, ordering: .relaxed).newValue
                    self.state.withLock { $0.longestAnswer = max($0.longestAnswer, sum) }
                    return ends.isCut.load(ordering: .sequentiallyConsistent) ? 0 : bytes.count
                }
                _ = shutdown(client, Int32(SHUT_RDWR))
                self.state.withLock { _ = $0.clients.remove(client) }
                close(server)
                close(client)
            }
        }

        private final class Ends: Sendable {
            let isCut: Atomic<Bool>
            /// How many bytes the client was sent since it sent something.
            let answered: Atomic<Int>

            init(isCut: consuming Atomic<Bool>, answered: consuming Atomic<Int>) {
                self.isCut = isCut
                self.answered = answered
            }
        }

        private final class Silence: Sendable {
            private let condition = NSCondition()
            private let isOn = Atomic(false)

            func begin() { isOn.store(true, ordering: .sequentiallyConsistent) }

            func end() {
                condition.withLock { isOn.store(false, ordering: .sequentiallyConsistent) }
                condition.broadcast()
            }

            func waitForEnd() {
                condition.withLock {
                    while isOn.load(ordering: .sequentiallyConsistent) { condition.wait() }
                }
            }
        }

        /// Copies until an end.
        ///
        /// - Parameter passes: how many bytes of a piece are copied.
        private func copy(
            from source: Int32, to target: Int32, _ passes: (ArraySlice<UInt8>) -> Int
        ) {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = recv(source, &buffer, buffer.count, 0)
                silence.waitForEnd()
                guard count > 0 else { return }
                let goesOn = passes(buffer[..<count])
                var sent = 0
                while sent < goesOn {
                    let more = buffer[sent..<goesOn].withUnsafeBytes {
                        send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard more > 0 else { return }
                    sent += more
                }
            }
        }

        private static func socket(_ family: Int32) -> Int32 {
            #if canImport(Glibc)
                Glibc.socket(family, Int32(SOCK_STREAM.rawValue), 0)
            #else
                Darwin.socket(family, SOCK_STREAM, 0)
            #endif
        }

        /// A socket at a port of 127.0.0.1 that the system chooses.
        private static func socketAtAnyPort() throws -> (socket: Int32, port: UInt16) {
            let made = socket(AF_INET)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(made, $0, size) == 0 ? getsockname(made, $0, &size) : -1
                }
            }
            guard made >= 0, code == 0 else { throw POSIXError(.EIO) }
            return (made, UInt16(bigEndian: address.sin_port))
        }

        private static func socket(
            at path: String,
            _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
        ) throws -> Int32 {
            let made = socket(AF_UNIX)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let code = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    use(made, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard made >= 0, code == 0 else { throw POSIXError(.EIO) }
            return made
        }
    }
#endif
