import CloudKitWire
import Foundation

#if canImport(Glibc)
    import Glibc

    /// Stands between a client and a server, and breaks requests as it is told to.
    ///
    /// Each request comes on a connection of its own, so that what is broken is that request alone.
    final class FaultyProxy: Sendable {
        /// What becomes of one request.
        enum Fate: CaseIterable {
            case pass
            /// The connection is closed before the server has seen anything.
            case cutBefore
            /// The server does its work, and nobody hears of it.
            case loseAnswer
            /// The answer breaks off in the middle of its body. Foundation on Linux ends the program where one breaks off
            /// within its head (swift-corelibs-foundation, issue 5285); servers send that in one piece.
            case cutAnswer
            /// The answer comes late.
            case delay
        }

        private let plan = Locked<@Sendable () -> Fate>({ .pass })
        private let target: UInt16
        private let listener: Int32
        let port: UInt16

        struct NotStarted: Error {}

        init(target: URL) throws {
            self.target = UInt16(target.port ?? 80)
            let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            listener = listening
            var address = Self.loopback(port: 0)
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(listening, address, size) == 0 && listen(listening, 64) == 0
                        && getsockname(listening, address, &size) == 0
                }
            }
            guard isBound else { throw NotStarted() }
            port = UInt16(bigEndian: address.sin_port)
            Thread.detachNewThread { [weak self] in
                while true {
                    let client = accept(listening, nil, nil)
                    guard client >= 0 else { return }
                    guard let self else {
                        close(client)
                        return
                    }
                    Thread.detachNewThread { self.serve(client) }
                }
            }
        }

        deinit {
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
        }

        /// Says what becomes of the requests from now on; called once for each.
        func plan(_ plan: @escaping @Sendable () -> Fate) {
            self.plan.withLock { $0 = plan }
        }

        private static func loopback(port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return address
        }

        private func serve(_ client: Int32) {
            defer { close(client) }
            guard let request = Self.message(from: client) else { return }
            let fate = plan.withLock { $0 }()
            if fate == .cutBefore { return }
            guard let answer = Self.ask(target, request) else { return }
            switch fate {
            case .loseAnswer, .cutBefore: return
            case .cutAnswer:
                let middle = ((Self.headEnd(answer) ?? 0) + answer.count) / 2
                Self.write(Array(answer.prefix(middle)), to: client)
            case .delay:
                usleep(20_000)
                Self.write(answer, to: client)
            case .pass: Self.write(answer, to: client)
            }
        }

        /// Reads a head and as much body as it announces.
        static func message(from descriptor: Int32) -> [UInt8]? {
            var bytes: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 65_536)
            while true {
                if let end = headEnd(bytes) {
                    let head = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
                    let length =
                        head.components(separatedBy: "content-length:").dropFirst().first
                        .flatMap { Int($0.drop { $0 == " " }.prefix(while: \.isNumber)) } ?? 0
                    if bytes.count >= end + length { return bytes }
                }
                let count = read(descriptor, &piece, piece.count)
                guard count > 0 else { return nil }
                bytes += piece[..<count]
            }
        }

        private static func headEnd(_ bytes: [UInt8]) -> Int? {
            let end: [UInt8] = [13, 10, 13, 10]
            guard bytes.count >= 4 else { return nil }
            for index in 0...(bytes.count - 4) where Array(bytes[index..<index + 4]) == end {
                return index + 4
            }
            return nil
        }

        private static func ask(_ port: UInt16, _ request: [UInt8]) -> [UInt8]? {
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(server) }
            var address = loopback(port: port)
            let isThere = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isThere else { return nil }
            write(request, to: server)
            guard let answer = message(from: server), let line = answer.firstIndex(of: 10) else {
                return nil
            }
            return Array(answer[...line]) + Array("Connection: close\r\n".utf8)
                + Array(answer[(line + 1)...])
        }

        private static func write(_ bytes: [UInt8], to descriptor: Int32) {
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    send(
                        descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent,
                        Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                sent += count
            }
        }
    }
#endif
