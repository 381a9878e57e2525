/// The one chance to answer a request; usable from any thread, once.
package struct HTTPReply: Sendable {
    private let deliver: @Sendable (HTTPResponse) -> Void

    package init(_ deliver: @escaping @Sendable (HTTPResponse) -> Void) {
        self.deliver = deliver
    }

    package func send(_ response: HTTPResponse) { deliver(response) }
}
