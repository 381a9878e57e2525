import Configuration
import Control
import HTTPClient
import Network

/// What the server sends by itself, as the settings `outgoing` say.
///
/// It has an event loop for the requests, and threads that look up names for it.
package final class OutgoingTraffic: Sendable {
    package let requests: OutgoingRequests
    private let resolver: NameResolver

    /// Starts the threads, which `stop` has to end.
    ///
    /// - Throws: `CommandFailure` for certificates that cannot be used; `SystemError`.
    package init(_ configuration: ServerConfiguration) throws {
        let resolver = try NameResolver()
        self.resolver = resolver
        do {
            requests = try OutgoingRequests(
                policy: configuration.targetPolicy,
                trust: try ServerTrust(authoritiesFile: configuration.outgoing.authoritiesFile)
            ) { resolver.resolve(host: $0, port: $1, then: $2) }
        } catch let error as TLSError {
            resolver.stop()
            throw CommandFailure("outgoing.authoritiesFile: \(error)")
        } catch {
            resolver.stop()
            throw error
        }
    }

    /// Looks names up for the other senders.
    var resolve: OutgoingRequests.Resolve {
        { [resolver] in resolver.resolve(host: $0, port: $1, then: $2) }
    }

    /// Ends every connection and the threads; requests that wait or are under way fail.
    ///
    /// Callable from any thread but the loop's.
    package func stop() {
        requests.stop()
        resolver.stop()
    }
}
