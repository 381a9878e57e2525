import Foundation

/// The file that names the services of containers for programs that cannot.
///
/// JSON: a container's ID leads to `url`, and perhaps `environment`, `apiToken` and `webAuthToken`. The
/// environment variable `LENTICULAR_SERVICE_FILE` says where it is.
public enum ServiceFile {
    static let variable = "LENTICULAR_SERVICE_FILE"

    private struct Entry: Decodable {
        let url: URL
        let environment: String?
        let apiToken: String?
        let webAuthToken: String?
    }

    /// - Returns: nil when there is no such file, or it says nothing that can be used of the container.
    public static func service(
        of container: String, in environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> ServerAccess? {
        guard let path = environment[variable],
            let data = FileManager.default.contents(atPath: path),
            let entries = try? JSONDecoder().decode([String: Entry].self, from: data),
            let entry = entries[container]
        else { return nil }
        return ServerAccess(
            url: entry.url,
            environment: entry.environment.flatMap { .init(rawValue: $0) } ?? .development,
            apiToken: entry.apiToken,
            credentials: entry.webAuthToken.map { .webAuthToken($0) } ?? .none)
    }
}
