import CloudKitTransport
import CloudKitWire
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server with a courier that answers as a test has written down, one answer a request.
final class CourierExchange: HTTPExchange {
    enum Answer {
        case poll(String)
        case events([String])
        case status(Int)
    }

    private struct State {
        var answers: [Answer]
        var made = 0
        var asked: [(accept: String?, last: String?)] = []
        var refused: (status: Int, body: String)?
    }

    private let state: Locked<State>

    init(_ answers: [Answer]) { state = Locked(State(answers: answers)) }

    /// What the request for an address is answered with instead of one.
    var refusal: (status: Int, body: String)? {
        get { state.withLock { $0.refused } }
        set { state.withLock { $0.refused = newValue } }
    }

    var addressesMade: Int { state.withLock { $0.made } }

    /// What each request would take.
    var accepted: [String?] { state.withLock { $0.asked.map(\.accept) } }

    /// After what each request goes on.
    var resumed: [String?] { state.withLock { $0.asked.map(\.last) } }

    func answer(
        to request: URLRequest, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse) {
        guard let url = request.url else { throw URLError(.badURL) }
        guard url.path.hasPrefix("/device/1/iCloud.test/development/tokens/create") else {
            return (Data(#"{"userRecordName":"_ann"}"#.utf8), try Self.head(url, 200))
        }
        if let (status, body) = refusal { return (Data(body.utf8), try Self.head(url, status)) }
        let number = state.withLock { state in
            state.made += 1
            return state.made
        }
        let body = #"{"apnsToken":"t","webcourierURL":"http://test.invalid/courier/\#(number)"}"#
        return (Data(body.utf8), try Self.head(url, 200))
    }

    func stream(
        _ request: URLRequest, _ timeLimits: TimeLimits
    ) async throws -> (StreamedBody, HTTPURLResponse) {
        guard let url = request.url else { throw URLError(.badURL) }
        let next = state.withLock { state -> Answer? in
            state.asked.append(
                (
                    request.value(forHTTPHeaderField: "Accept"),
                    request.value(forHTTPHeaderField: "Last-Event-ID")
                ))
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        switch next {
        case .poll(let text):
            return (Self.body([text]), try Self.head(url, 200, "application/json"))
        case .events(let pieces):
            return (Self.body(pieces), try Self.head(url, 200, "text/event-stream"))
        case .status(let status):
            return (Self.body([]), try Self.head(url, status))
        case nil:
            // Held for as long as somebody waits.
            return (StreamedBody { _ in }, try Self.head(url, 200, "text/event-stream"))
        }
    }

    private static func body(_ pieces: [String]) -> StreamedBody {
        StreamedBody { continuation in
            for piece in pieces { continuation.yield(Data(piece.utf8)) }
            continuation.finish()
        }
    }

    private static func head(
        _ url: URL, _ status: Int, _ type: String = "application/json"
    ) throws -> HTTPURLResponse {
        guard
            let head = HTTPURLResponse(
                url: url, statusCode: status, httpVersion: "HTTP/1.1",
                headerFields: ["Content-Type": type])
        else { throw URLError(.badServerResponse) }
        return head
    }

    func answer(
        to request: URLRequest, sending file: URL, _ timeLimits: TimeLimits
    ) async throws -> (Data, HTTPURLResponse) {
        throw URLError(.unsupportedURL)
    }

    func file(
        at address: URL, _ timeLimits: TimeLimits
    ) async throws -> (URL, HTTPURLResponse) {
        throw URLError(.unsupportedURL)
    }
}
