import Awaiting
import Foundation
import HTTP
import Network
import Testing

@Suite("A server's life")
struct LifeTests {
    @Test("A drain ends idle connections, finishes requests, and refuses new connections")
    func drains() throws {
        // One loop: what one connection shows of the drain then holds for the others.
        try TestServer.run({ $0.loopCount = 1 }) { test in
            let idle = try test.client()
            try idle.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try idle.answer()
            let held = try test.client()
            try held.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
            try test.until { test.responder.heldCount == 1 }
            let before = test.server.counts().bytesIn
            let partial = try test.client()
            try partial.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na")
            try test.until { test.server.counts().bytesIn > before }
            let drained = Awaited<Bool>()
            let server = test.server
            try Thread().start(name: "drain") {
                server.drain(withinSeconds: 30)
                drained.tell(true)
            }
            #expect(try idle.isClosedByPeer())
            #expect(throws: (any Error).self) { try test.client() }
            try partial.send("b")
            let answer = try partial.answer()
            #expect(answer.text == "ab")
            #expect(answer["connection"] == "close")
            test.responder.release("finished")
            let last = try held.answer()
            #expect(last.text == "finished")
            #expect(last["connection"] == "close")
            #expect(try held.isClosedByPeer())
            _ = try drained.value()
            #expect(test.server.counts().connectionsOpen == 0)
        }
    }

    @Test("Who has connected before a drain is answered, and waited for until the next sweep")
    func connectedBefore() throws {
        try TestServer.run { test in
            let clients = try (0..<8).map { _ in try test.client() }
            let silent = try test.client()
            let drained = Awaited<Bool>()
            let server = test.server
            try Thread().start(name: "drain") {
                server.drain(withinSeconds: 30)
                drained.tell(true)
            }
            // The drain has begun when nobody listens any more.
            try test.until { (try? test.client()) == nil }
            for client in clients {
                try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try client.answer().status == 200)
            }
            test.clock.advance(seconds: 1)
            for client in clients + [silent] { #expect(try client.isClosedByPeer()) }
            _ = try drained.value()
        }
    }

    @Test("One turn of a loop sends only so much of a long answer, and all of it comes")
    func longAnswers() throws {
        try TestServer.run { test in
            let (server, sent) = (test.server, Awaited<UInt64>())
            test.responder.afterBurst.withLock {
                $0 = { sent.tell(server.counts().bytesOut) }
            }
            let client = try test.client()
            try client.send("GET /burst HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try sent.value() <= 1_048_576)
            #expect(try client.answer().body == TestResponder.bytes(4_000_000))
        }
    }

    #if os(Linux)
        @Test(
            "Nobody is let in after a drain, also where a process in the making has a copy of the socket"
        )
        func copiedListener() throws {
            try TestServer.run { test in
                guard case .tcp(_, let port) = test.address else { return }
                // As a child has it from its fork until it runs its program.
                let copy = dup(try #require((3..<4_096).first { Self.listens($0, at: port) }))
                defer { close(copy) }
                test.server.drain(withinSeconds: 0)
                #expect(throws: RawClient.Failure.self) { try test.client() }
            }
        }

        private static func listens(_ descriptor: Int32, at port: UInt16) -> Bool {
            var (address, count) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
            let found = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getsockname(descriptor, $0, &count)
                }
            }
            var (isListening, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size)
            return found == 0 && address.sin_port == port.bigEndian && isListening != 0
        }
    #endif

    @Test("A drain that takes too long closes what is left")
    func endsADrain() throws {
        try TestServer.run { test in
            let held = try test.client()
            try held.send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
            try test.until { test.responder.heldCount == 1 }
            let drained = Awaited<Bool>()
            let server = test.server
            let clock = test.clock
            try Thread().start(name: "drain") {
                server.drain(withinSeconds: 30)
                drained.tell(true)
            }
            // The drain has begun when nobody listens any more.
            try test.until { (try? test.client()) == nil }
            clock.advance(seconds: 30)
            _ = try drained.value()
            #expect(try held.isClosedByPeer())
        }
    }

    @Test("Two addresses of different kinds are served at once")
    func servesUnixSockets() throws {
        let path = NSTemporaryDirectory() + "lenticular-\(UUID().uuidString.prefix(8)).sock"
        try TestServer.run(
            addresses: [
                .tcp(host: "127.0.0.1", port: 0), .unix(path: path),
            ], { $0.unixMode = 0o600 }
        ) { test in
            let client = try RawClient(test.addresses[1])
            try client.send("GET /peer HTTP/1.1\r\nHost: x\r\n\r\n")
            let peer = Peer(address: "unix", isLoopback: true, isTLS: false)
            #expect(try client.answer().text == "\(peer)")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let other = try RawClient(test.addresses[0])
            try other.send("GET /peer HTTP/1.1\r\nHost: x\r\n\r\n")
            let loopback = Peer(address: "127.0.0.1", isLoopback: true, isTLS: false)
            #expect(try other.answer().text == "\(loopback)")
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("A Unix socket left behind is replaced; one in use is not")
    func replacesAStaleSocket() throws {
        let path = NSTemporaryDirectory() + "lenticular-\(UUID().uuidString.prefix(8)).sock"
        let stale = try RawClient.bindUnix(path)
        close(stale)
        try TestServer.run(addresses: [.unix(path: path)]) { test in
            let second = try HTTPServer(
                HTTPServer.Configuration(addresses: [.unix(path: path)]),
                responder: test.responder)
            #expect(throws: HTTPServer.StartFailure.self) { try second.start() }
            let client = try test.client()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().status == 200)
        }
    }

    @Test("An address in use or unknown stops the start, and the others are given up")
    func refusesToStart() throws {
        try TestServer.run { test in
            for address in [test.address, .tcp(host: "192.0.2.1", port: 1)] {
                let server = try HTTPServer(
                    HTTPServer.Configuration(
                        addresses: [.tcp(host: "127.0.0.1", port: 0), address]),
                    responder: test.responder)
                #expect(throws: HTTPServer.StartFailure.self) { try server.start() }
            }
        }
    }

    @Test("IPv6 is served where the machine has it")
    func servesIPv6() throws {
        try TestServer.run(addresses: [.tcp(host: "::", port: 0)]) { test in
            let client = try test.client()
            try client.send("GET /peer HTTP/1.1\r\nHost: x\r\n\r\n")
            let mapped = Peer(address: "127.0.0.1", isLoopback: true, isTLS: false)
            #expect(try client.answer().text == "\(mapped)")
        }
    }
}
