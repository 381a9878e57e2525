import Network

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Asks a server over its own listening address whether it accepts work; blocks, with a deadline.
package struct HealthProbe {
    /// How long each step may take.
    package static let secondsMax = 5
    private static let answerBytesMax = 65_536

    private let address: ListenAddress

    package init(address: ListenAddress) { self.address = address }

    /// What the server says at `/readyz`.
    ///
    /// - Returns: the status and the body without the white space around it.
    /// - Throws: `CommandFailure` when nobody answers as an HTTP server would.
    package func readiness() throws(CommandFailure) -> (status: Int, text: String) {
        let socket = try connect()
        let text: String
        do {
            try socket.sendAll(
                Array("GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8))
            let answer = try socket.receiveToEnd(bytesMax: HealthProbe.answerBytesMax)
            text = String(decoding: answer, as: UTF8.self)
        } catch {
            throw CommandFailure("no answer from \(address): \(error.reason)")
        }
        let words = text.prefix(64).split(separator: " ")
        guard text.hasPrefix("HTTP/1.1 "), words.count > 1, let status = Int(words[1].prefix(3))
        else { throw CommandFailure("what answers at \(address) is no HTTP server") }
        let body = text.firstRange(of: "\r\n\r\n").map { text[$0.upperBound...] } ?? ""
        return (status, String(body.prefix { !$0.isNewline }))
    }

    /// Makes sure that somebody takes a connection there.
    ///
    /// - Throws: `CommandFailure` when nobody does.
    package func requireListener() throws(CommandFailure) { _ = try connect() }

    func connect() throws(CommandFailure) -> LocalSocket {
        switch address {
        case .unix(let path):
            do {
                let socket = try LocalSocket.connect(to: path)
                socket.setDeadline(seconds: HealthProbe.secondsMax)
                return socket
            } catch {
                throw CommandFailure("no answer from \(address): \(error.reason)")
            }
        case .tcp(let host, let port):
            return try connect(host: Self.reachable(host), port: port)
        }
    }

    /// The host and port of a URL to a server on this machine.
    package static func reachable(_ host: String, port: UInt16) -> String {
        ListenAddress.tcp(host: reachable(host), port: port).description
    }

    /// Whether a process takes connections at the path of a Unix socket.
    package static func isAnyoneListening(at path: String) -> Bool {
        // NB: whatever goes wrong, nobody is there for this process.
        (try? LocalSocket.connect(to: path)) != nil
    }

    /// Where a server that listens on every address is reached from its own machine.
    private static func reachable(_ host: String) -> String {
        switch host {
        case "0.0.0.0", "*": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }

    private func connect(host: String, port: UInt16) throws(CommandFailure) -> LocalSocket {
        var hints = addrinfo()
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0, let found else {
            throw CommandFailure("\(host) cannot be resolved")
        }
        defer { freeaddrinfo(found) }
        var next: UnsafeMutablePointer<addrinfo>? = found
        while let candidate = next?.pointee {
            next = candidate.ai_next
            let descriptor = socket(candidate.ai_family, candidate.ai_socktype, 0)
            guard descriptor >= 0 else { continue }
            let connection = LocalSocket(descriptor: descriptor)
            connection.setDeadline(seconds: HealthProbe.secondsMax)
            if systemConnect(descriptor, candidate.ai_addr, candidate.ai_addrlen) == 0 {
                return connection
            }
        }
        throw CommandFailure("no answer from \(address)")
    }
}
