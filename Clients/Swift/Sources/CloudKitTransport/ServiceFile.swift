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
        guard let entry = entries(in: environment)[container] else { return nil }
        return ServerAccess(
            url: entry.url,
            environment: entry.environment.flatMap { .init(rawValue: $0) } ?? .development,
            apiToken: entry.apiToken,
            credentials: entry.webAuthToken.map { .webAuthToken($0) } ?? .none)
    }

    /// The container that the file is about; nil when it names none or several.
    package static var onlyContainer: String? {
        let entries = entries(in: ProcessInfo.processInfo.environment)
        return entries.count == 1 ? entries.keys.first : nil
    }

    private static func entries(in environment: [String: String]) -> [String: Entry] {
        guard let path = environment[variable],
            let data = FileManager.default.contents(atPath: path)
        else { return [:] }
        return (try? JSONDecoder().decode([String: Entry].self, from: data)) ?? [:]
    }
}
