import Configuration

extension Command {
    static let healthcheck = Command(
        "healthcheck", "ask the running server whether it accepts work",
        action: .local { invocation, surroundings in
            let configuration = try Configuration.load(for: invocation, in: surroundings)
            guard let address = configuration.addresses.first else {
                throw CommandFailure("the server has no address")
            }
            let probe = HealthProbe(address: address)
            let (status, text) = try probe.readiness()
            guard status == 200 else {
                throw CommandFailure("the server is not ready: \(text)")
            }
            return CommandOutput("ready", values: [("version", .text(Version.text))])
        })
}
