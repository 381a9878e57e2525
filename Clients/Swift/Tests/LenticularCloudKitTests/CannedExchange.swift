import CloudKitTransport
import CloudKitWire
import Foundation
import LenticularCloudKit

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server that answers each operation with the same text, and keeps what it was sent.
final class CannedExchange: HTTPExchange {
    private let answers: [String: String]
    private let fileStatus: Int
    private let bodies = Locked<[(operation: String, body: String)]>([])

    /// - Parameters:
    ///   - answers: by the last two parts of the path, such as `records/modify`.
    ///   - fileStatus: how it answers who asks for a file.
    init(_ answers: [String: String], fileStatus: Int = 404) {
        self.answers = answers
        self.fileStatus = fileStatus
    }

    /// The bodies of an operation's requests, in their order.
    func sent(_ operation: String) -> [String] {
        bodies.withLock { $0.filter { $0.operation == operation }.map(\.body) }
    }

    /// A container that speaks to this server.
    var container: CKContainer {
        let service = CKServerAccess(
            url: URL(fileURLWithPath: "/"), apiToken: "api", credentials: .webAuthToken("token"))
        return CKContainer(
            identifier: "iCloud.test",
            connection: ServiceConnection(service, container: "iCloud.test", exchange: self))
    }

    func answer(
        to request: URLRequest, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse) {
        guard let url = request.url else { throw URLError(.badURL) }
        let operation = url.pathComponents.suffix(2).joined(separator: "/")
        let body = String(decoding: request.httpBody ?? Data(), as: UTF8.self)
        bodies.withLock { $0.append((operation, body)) }
        guard let answer = answers[operation],
            let head = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
        else { throw URLError(.badServerResponse) }
        return (Data(answer.utf8), head)
    }

    func stream(
        _ request: URLRequest, _ timeLimits: TimeLimits
    ) async throws -> (StreamedBody, HTTPURLResponse) {
        throw URLError(.unsupportedURL)
    }

    func answer(
        to request: URLRequest, sending file: URL, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse) {
        throw URLError(.unsupportedURL)
    }

    func file(
        at address: URL, _ timeLimits: TimeLimits
    ) async throws -> (URL, HTTPURLResponse) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data().write(to: file)
        guard
            let head = HTTPURLResponse(
                url: address, statusCode: fileStatus, httpVersion: "HTTP/1.1", headerFields: [:])
        else { throw URLError(.badServerResponse) }
        return (file, head)
    }
}
