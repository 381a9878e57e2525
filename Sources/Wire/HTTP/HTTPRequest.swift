import Network

/// What counts together as one client, for those who know no sockets.
package typealias ClientBlock = AddressBlock

/// One whole request: head and body, within the limits, framed without ambiguity.
package struct HTTPRequest: Sendable {
    package enum Method: Sendable, Equatable {
        case get, head, post, put, delete, options
        case other(String)
    }

    /// What does not change once the head was read; one reference, since requests are handed on often.
    private final class Head: Sendable {
        let id: String
        let method: Method
        let target: [UInt8]
        let headers: HTTPHeaders
        let peer: Peer
        let client: AddressBlock?
        let loop: Int

        init(
            id: String, method: Method, target: [UInt8], headers: HTTPHeaders, peer: Peer,
            client: AddressBlock?, loop: Int
        ) {
            self.id = id
            self.method = method
            self.target = target
            self.headers = headers
            self.peer = peer
            self.client = client
            self.loop = loop
        }
    }

    private let head: Head
    /// The body, with chunks joined and gzip undone.
    package var body: [UInt8]
    /// What the body has taken of the budget; nil for a small one.
    package var bodyMemory: BodyCharge?
    /// What the responder wanted to see the body.
    package var bodyWitness: (any BodyWitness)?
    /// The addresses that count as one client.
    package typealias Block = AddressBlock

    package init(
        id: String, method: Method, target: [UInt8], headers: HTTPHeaders, body: [UInt8],
        peer: Peer, client: AddressBlock? = nil, loop: Int
    ) {
        head = Head(
            id: id, method: method, target: target, headers: headers, peer: peer, client: client,
            loop: loop)
        self.body = body
    }

    /// Made by the server for each request: 36 lower-case characters, the form of a version 4 UUID.
    package var id: String { head.id }
    package var method: Method { head.method }
    /// The request target exactly as received: path, `?`, query; of a whole URL from its path on.
    package var target: [UInt8] { head.target }
    package var headers: HTTPHeaders { head.headers }
    package var peer: Peer { head.peer }
    /// The client that sent the request: the peer, or the client that a trusted proxy names.
    ///
    /// Nil for a Unix socket.
    package var client: AddressBlock? { head.client }
    /// Which event loop the connection lives on, from 0: lets a responder keep one reader a loop.
    package var loop: Int { head.loop }
}

/// The other end of the connection, before any proxy header is believed.
package struct Peer: Sendable, Equatable {
    /// The numeric address, without the port; `unix` for a Unix socket.
    package let address: String
    /// True for 127.0.0.0/8, ::1 and Unix sockets.
    package let isLoopback: Bool
    package let isTLS: Bool
    /// Whether it is a proxy that is trusted to name its clients.
    package let isTrustedProxy: Bool
    /// What the address counts as; nil for a Unix socket.
    package let block: AddressBlock?

    package init(
        address: String, isLoopback: Bool, isTLS: Bool, isTrustedProxy: Bool = false,
        block: AddressBlock? = nil
    ) {
        self.address = address
        self.isTrustedProxy = isTrustedProxy
        self.block = block ?? AddressBlock(address)
        self.isLoopback = isLoopback
        self.isTLS = isTLS
    }
}
