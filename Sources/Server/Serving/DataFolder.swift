/// The folder that holds everything the server keeps, opened by the one process that may change it.
package final class DataFolder: Sendable {
    package let path: String

    init(path: String) { self.path = path }

    /// Where the process that holds a folder takes commands.
    package static func controlSocketPath(in folder: String) -> String { "\(folder)/control.sock" }

    static func open(
        _ path: String, configuration: ServerConfiguration, surroundings: Surroundings
    ) throws -> DataFolder? { DataFolder(path: path) }

    func close() {}
}
struct ServerConfiguration {
    var dataFolder: String
    static func load(for invocation: Invocation, in surroundings: Surroundings) throws -> ServerConfiguration {
        .init(dataFolder: invocation.value("data") ?? "data")
    }
}
