import Configuration
import Control
import HTTP
import Network

/// The address that has the metrics and nothing else, on a loop of its own.
struct MetricsListener: Sendable {
    /// Of connections at a time: what collects metrics needs one or two.
    private static let connectionCountMax = 64

    /// Where it listens, with the port that the system chose.
    let address: ListenAddress
    private let server: HTTPServer

    /// Listens where the settings say.
    ///
    /// Nil where they say nowhere, and where another process has the default address.
    ///
    /// - Throws: `CommandFailure` when an address that somebody has chosen cannot be listened at.
    init?(_ settings: MetricsSettings, _ metrics: Metrics, _ log: Log) throws {
        guard let wanted = ListenAddress(settings.listen) else { return nil }
        var wire = HTTPServer.Configuration(addresses: [wanted])
        wire.loopCount = 1
        wire.limits.connectionCountMax = Self.connectionCountMax
        do {
            let server = try HTTPServer(wire, responder: MetricsResponder(metrics: metrics))
            guard let address = try server.start().first else { return nil }
            self.server = server
            self.address = address
        } catch {
            let failure = CommandFailure("metrics.listen: \(error)")
            guard settings.listen == MetricsSettings.listenDefault else { throw failure }
            log.warning("no metrics", [("failure", .text("\(failure)"))])
            return nil
        }
    }

    func close() { server.drain(withinSeconds: 0) }
}
