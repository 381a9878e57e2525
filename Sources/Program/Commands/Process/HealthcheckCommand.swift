import Configuration
import Control
import Server

extension Command {
    static let healthcheck = Command(
        "healthcheck", "ask the running server whether it accepts work",
        action: .local { invocation, process in
            let configuration = try ServerConfiguration.load(for: invocation, in: process)
            if let trouble = try obstacle(configuration) {
                throw CommandFailure("the server is not ready: \(trouble)")
            }
            return CommandOutput("ready", values: [("version", .text(ProgramVersion.text))])
        })

    /// Why the server takes no work, asked at an address without TLS where there is one.
    private static func obstacle(_ configuration: ServerConfiguration) throws -> String? {
        let plain = configuration.addresses.first { address in
            if case .unix = address { return true }
            return !configuration.hasTLS
        }
        if let plain {
            let (status, text) = try HealthProbe(address: plain).readiness()
            return status == 200 ? nil : text
        }
        // Whether it accepts connections is seen without TLS, how it is it says on the socket for
        // commands: an address may be one that its own certificate does not name.
        for address in configuration.addresses {
            try HealthProbe(address: address).requireListener()
        }
        let client = ControlClient(
            path: DataFolder.controlSocketPath(in: configuration.data))
        let answer = try client.run(.healthcheck, secondsMax: HealthProbe.secondsMax)
        guard let answer else { throw CommandFailure("no server runs on \(configuration.data)") }
        return answer.status == 0 ? nil : answer.error
    }
}
