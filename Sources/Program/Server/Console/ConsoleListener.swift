import Administration
import Configuration
import Control
import HTTP
import Network
import Pages

/// The address that has the operators' interface and nothing else, on a loop of its own.
struct ConsoleListener: Sendable {
    /// Of connections at a time.
    private static let connectionCountMax = 256
    /// Of all bodies that come in at a time.
    private static let bodyMemoryBytesMax = 67_108_864

    /// Where it listens, with the port that the system chose.
    let address: ListenAddress
    private let server: HTTPServer
    private let responder: ConsoleResponder

    /// Listens where the settings say.
    ///
    /// Nil where they say nowhere, where another process has the default address, and where nobody gave an access.
    ///
    /// - Parameters:
    ///   - mark: whose server it is, which its pages say.
    ///   - reached: the folder's settings, with the ports that are in use.
    /// - Throws: `CommandFailure` when an address that somebody has chosen cannot be listened at.
    init?(
        _ access: ConsoleAccess?, on folder: DataFolder, _ mark: ServiceMark,
        _ reached: ServerConfiguration, tls: TLSContext?, _ log: Log
    ) throws {
        let settings = folder.configuration.console
        guard let access, let wanted = ListenAddress(settings.listen) else { return nil }
        var endpoint = HTTPServer.Endpoint(wanted)
        if case .tcp = wanted { endpoint.tls = tls }
        var wire = HTTPServer.Configuration(endpoints: [endpoint])
        wire.loopCount = 1
        wire.limits.connectionCountMax = Self.connectionCountMax
        wire.limits.bodyMemoryBytesMax = Self.bodyMemoryBytesMax
        let proxies = folder.configuration.http.trustedProxies
        wire.isTrustedProxy = { address in proxies.contains { $0.contains(address) } }
        wire.wallSeconds = { [clock = folder.clock] in clock.now() / 1_000 }
        let responder = ConsoleResponder(
            access, allowing: settings.allow, folder.accountUseCases,
            pages: ConsolePages(mark: mark, baseURL: reached.baseURL), clock: folder.clock,
            random: folder.random
        ) { actor, acting in
            Administrator(actor, as: acting, on: folder) {
                try folder.note($0)
                log.note($0)
            }
        } failed: { request, error in
            log.error(
                "the operators' interface failed inside",
                [("request", .text(request)), ("failure", .text("\(error)"))])
        }
        self.responder = responder
        do {
            let server = try HTTPServer(wire, responder: responder)
            guard let address = try server.start().first else { return nil }
            self.server = server
            self.address = address
        } catch {
            let failure = CommandFailure("console.listen: \(error)")
            guard settings.listen == ConsoleSettings.listenDefault else { throw failure }
            log.warning("no operators' interface", [("failure", .text("\(failure)"))])
            return nil
        }
    }

    func close(withinSeconds seconds: Int) {
        responder.stopStreams()
        server.drain(withinSeconds: seconds)
        responder.awaitStreams(withinSeconds: seconds)
    }
}
