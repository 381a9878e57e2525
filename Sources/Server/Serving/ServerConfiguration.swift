import CloudModel
import HTTP
import Network

/// What the configuration says to this program.
package struct ServerConfiguration: Sendable {
    package var dataFolder: String
    package var addresses: [ListenAddress] = []
    package var loopCount = HTTPServer.coreCount
    package var logFormat = LogFormat.json
    package var metricsToken: String?

    static func load(
        for invocation: Invocation, in surroundings: Surroundings
    ) throws -> ServerConfiguration {
        let path = invocation.value("data") ?? surroundings.environment["LENTICULAR_DATA"] ?? "data"
        var configuration = ServerConfiguration(dataFolder: surroundings.absolute(path))
        var listen = invocation.values("listen")
        if listen.isEmpty, let text = surroundings.environment["LENTICULAR_LISTEN"] {
            listen = text.split(separator: ",").map(String.init)
        }
        if listen.isEmpty { listen = ["127.0.0.1:8080"] }
        for text in listen {
            guard let address = ListenAddress(text) else {
                throw CommandFailure("\(text) is no address: HOST:PORT or unix:PATH")
            }
            configuration.addresses.append(address)
        }
        if let format = invocation.value("log-format") {
            guard let known = LogFormat(rawValue: format) else {
                throw CommandFailure("--log-format takes json or text")
            }
            configuration.logFormat = known
        }
        return configuration
    }
}
