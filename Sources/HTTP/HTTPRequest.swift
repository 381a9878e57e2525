import Network

/// One whole request: head and body, within the limits, framed without ambiguity.
package struct HTTPRequest: Sendable {
    package enum Method: Sendable, Equatable {
        case get, head, post, put, delete, options
        case other(String)
    }

    /// Made by the server for each request: 36 lower-case characters, the form of a version 4 UUID.
    package let id: String
    package let method: Method
    /// The request target exactly as received: path, `?`, query; of a whole URL from its path on.
    package let target: [UInt8]
    package let headers: HTTPHeaders
    /// The body, with chunks joined and gzip undone.
    package let body: [UInt8]
    package let peer: Peer
    /// Whom the request came from: the peer, or for whom a trusted proxy has passed it on.
    ///
    /// Nil for a Unix socket.
    package let client: AddressBlock?
    /// Which event loop the connection lives on, from 0: lets a responder keep one reader a loop.
    package let loop: Int

    package init(
        id: String, method: Method, target: [UInt8], headers: HTTPHeaders, body: [UInt8],
        peer: Peer, client: AddressBlock? = nil, loop: Int
    ) {
        self.id = id
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.peer = peer
        self.client = client
        self.loop = loop
    }
}

/// Who is at the other end of the connection, before any proxy header is believed.
package struct Peer: Sendable, Equatable {
    /// The numeric address, without the port; `unix` for a Unix socket.
    package let address: String
    /// True for 127.0.0.0/8, ::1 and Unix sockets.
    package let isLoopback: Bool
    package let isTLS: Bool
    /// Whether it is a proxy whose word on its clients is believed.
    package let isTrustedProxy: Bool
    /// What the address counts as; nil for a Unix socket.
    package let block: AddressBlock?

    package init(
        address: String, isLoopback: Bool, isTLS: Bool, isTrustedProxy: Bool = false
    ) {
        self.address = address
        self.isTrustedProxy = isTrustedProxy
        block = AddressBlock(address)
        self.isLoopback = isLoopback
        self.isTLS = isTLS
    }
}
