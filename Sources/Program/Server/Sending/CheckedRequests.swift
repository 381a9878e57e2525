import Administration
import Configuration
import Control
import HTTPClient
import Network
import Synchronization

/// Asks services that operators name in commands, after the same look at their addresses as for webhooks.
final class CheckedRequests: SourceRequests {
    /// 200 records of 1 MB, and what JSON adds.
    private static let answerBytesMax = 268_435_456
    private static let pieceBytes = 262_144
    /// Tokens make addresses longer than those of webhooks may be.
    private static let addressBytesMax = 32_768
    /// Origins whose connections are kept: one that answers, and those that have its files.
    private static let originsMax = 16
    /// How a token of a user is handed on; the first is the usual one.
    private static let tokenFields = [
        "x-apple-cloudkit-web-auth-token", "x-apple-cloudkit-session",
    ]

    private let policy: TargetPolicy
    private let trust: ServerTrust
    private let clients = Mutex<[String: BlockingHTTPClient]>([:])

    /// - Throws: `CommandFailure` for certificates that cannot be used.
    init(_ configuration: ServerConfiguration) throws {
        policy = configuration.targetPolicy
        do {
            trust = try ServerTrust(authoritiesFile: configuration.outgoing.authoritiesFile)
        } catch {
            throw CommandFailure("outgoing.authoritiesFile: \(error)")
        }
    }

    func post(
        _ body: [UInt8], to url: String, headers: [(name: String, value: String)]
    ) throws(SourceFailure) -> SourceAnswer {
        let response = try send("POST", url, headers, body)
        let token = Self.tokenFields.lazy.compactMap { response.header($0) }.first
        let bytes: [UInt8]
        do throws(ClientFailure) {
            bytes = try response.readAll(bytesMax: Self.answerBytesMax)
        } catch {
            throw SourceFailure(error, webToken: token)
        }
        return SourceAnswer(
            status: response.status, body: bytes, webToken: token,
            retryAfterSeconds: response.header("retry-after").flatMap { Int($0) })
    }

    func download(_ url: String, _ take: ([UInt8]) throws -> Void) throws -> Int {
        let response = try send("GET", url, [], [])
        defer { response.close() }
        guard response.status == 200 else { return response.status }
        while true {
            let piece: [UInt8]
            do throws(ClientFailure) {
                piece = try response.read(upTo: Self.pieceBytes)
            } catch {
                throw SourceFailure(error)
            }
            guard !piece.isEmpty else { return response.status }
            try take(piece)
        }
    }

    private func send(
        _ method: String, _ text: String, _ headers: [(name: String, value: String)],
        _ body: [UInt8]
    ) throws(SourceFailure) -> ClientResponse {
        // NB: it may hold a token, and is not told.
        guard let url = TargetURL(text, bytesMax: Self.addressBytesMax) else {
            throw SourceFailure("an address that is none", mayPass: false)
        }
        do throws(ClientFailure) {
            return try client(of: url.origin).send(
                ClientRequest(
                    method: method, target: url.target, headers: headers, body: .bytes(body)))
        } catch {
            throw SourceFailure(error)
        }
    }

    private func client(of origin: HTTPOrigin) -> BlockingHTTPClient {
        clients.withLock { clients in
            if let known = clients[origin.text] { return known }
            if clients.count >= Self.originsMax { clients = [:] }
            var options = BlockingHTTPClient.Options()
            options.policy = policy
            let made = BlockingHTTPClient(origin, trust: trust, options: options)
            clients[origin.text] = made
            return made
        }
    }
}

extension SourceFailure {
    fileprivate init(_ failure: ClientFailure, webToken: String? = nil) {
        let mayPass =
            switch failure {
            case .unreachable, .broken, .timedOut, .overloaded: true
            case .untrusted, .malformed, .unreadableBody, .refused: false
            }
        self.init("\(failure)", mayPass: mayPass, webToken: webToken)
    }
}
