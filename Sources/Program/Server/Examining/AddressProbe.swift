import HTTP
import Synchronization

/// Finds out whether a request to the public address comes to this server, and as what.
///
/// Who knows the word that is awaited learns nothing by it: the answer is that of any other request.
final class AddressProbe: Sendable {
    /// How a request that was sent to come back shows itself.
    static let headerName = "lenticular-probe"

    /// What a request looked like at its arrival.
    struct Arrival: Sendable, Equatable {
        let peer: Peer
        let host: String
        let forwardedFor: String
        let forwardedProto: String
    }

    private struct State {
        var isServing = false
        var awaited: [String: Arrival?] = [:]
    }

    private let state = Mutex(State())

    /// Whether a server listens that requests could come to.
    var isServing: Bool {
        get { state.withLock { $0.isServing } }
        set { state.withLock { $0.isServing = newValue } }
    }

    /// What a request with this word looked like when it arrived; nil when it did not.
    ///
    /// - Parameter send: sends it, and returns once it was answered or has failed.
    func arrival(of word: String, _ send: () -> Void) -> Arrival? {
        state.withLock { $0.awaited[word] = .some(nil) }
        send()
        return state.withLock { $0.awaited.removeValue(forKey: word) } ?? nil
    }

    /// Looks at a request for this server's health, as anybody may send it.
    func look(at request: HTTPRequest) {
        guard let word = text(of: Self.headerName, in: request) else { return }
        state.withLock { state in
            guard let awaited = state.awaited[word], awaited == nil else { return }
            state.awaited[word] = Arrival(
                peer: request.peer, host: text(of: "host", in: request) ?? "",
                forwardedFor: text(of: "x-forwarded-for", in: request) ?? "",
                forwardedProto: text(of: "x-forwarded-proto", in: request) ?? "")
        }
    }

    private func text(of name: String, in request: HTTPRequest) -> String? {
        request.headers.withValue(name) { String(decoding: $0.prefix(256), as: UTF8.self) }
    }
}
