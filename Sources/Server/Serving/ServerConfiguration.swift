/// What the configuration says to this program.
package struct ServerConfiguration: Sendable {
    package var dataFolder: String

    static func load(
        for invocation: Invocation, in surroundings: Surroundings
    ) throws -> ServerConfiguration {
        let path = invocation.value("data") ?? surroundings.environment["LENTICULAR_DATA"] ?? "data"
        return ServerConfiguration(dataFolder: surroundings.absolute(path))
    }
}
