import Background
import CloudModel
import Cryptography
import HTTPClient

/// One bucket of an S3-compatible store: signed requests, tried again where that may help.
///
/// Every call blocks. Nothing that is secret is in what it throws.
package final class S3Bucket: Sendable {
    package struct Options: Sendable {
        package var endpoint: HTTPOrigin
        package var region = "us-east-1"
        package var bucket: String
        /// Whether the bucket is the first part of the path, else of the host's name.
        package var isPathStyle = true
        /// Files up to that size go in one request, larger ones in parts of it: each is in memory while it is sent.
        package var partBytes = 16_777_216
        /// How often a request is made before it is given up: somebody waits for it.
        package var attemptsMax = 4
        /// How much a reader asks for at a time.
        package var windowBytes = 4_194_304
        package var client = BlockingHTTPClient.Options()

        package init(endpoint: HTTPOrigin, bucket: String) {
            self.endpoint = endpoint
            self.bucket = bucket
        }
    }

    /// Clock and randomness, handed in so that tests can set them.
    package struct Context: Sendable {
        package let clock: Clock
        package let random: RandomSource
        /// Waits for so long, between two attempts.
        package let pause: @Sendable (Milliseconds) -> Void

        package init(
            clock: Clock, random: RandomSource, pause: @escaping @Sendable (Milliseconds) -> Void
        ) {
            self.clock = clock
            self.random = random
            self.pause = pause
        }
    }

    /// A request before it is signed.
    struct Request {
        var method: String
        var key = ""
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)] = []
        var body = ClientBody.none
        /// The SHA-256 of the body.
        var payload = SHA256.digest([])
    }

    private static let errorBytesMax = 65_536

    package let options: Options
    private let signer: SignatureV4
    private let client: BlockingHTTPClient
    private let context: Context
    private let backoff: Backoff

    /// - Parameter trust: which certificates TLS accepts, for an endpoint with `https`.
    package init(
        _ options: Options, credentials: S3Credentials, trust: ServerTrust?,
        context: Context
    ) {
        self.options = options
        signer = SignatureV4(credentials, region: options.region)
        let origin =
            options.isPathStyle
            ? options.endpoint : options.endpoint.adding(label: options.bucket)
        client = BlockingHTTPClient(origin, trust: trust, options: options.client)
        self.context = context
        let random = context.random
        backoff = Backoff(first: 100, longest: 5_000) { random.number() }
    }

    var now: Milliseconds { context.clock.now() }

    /// The address of an object that anybody may read for some time.
    func address(
        of key: String, query: [(name: String, value: String)], seconds: Int64
    ) -> String {
        let path = path(key)
        let signed = signer.presignedQuery(
            method: "GET", path: path, query: query, host: client.origin.authority,
            seconds: seconds, at: now)
        return "\(client.origin.text)\(path)?\(signed)"
    }

    private func path(_ key: String) -> String {
        let object = PercentEncoding.encode(key, keepingSlashes: true)
        return options.isPathStyle ? "/\(options.bucket)/\(object)" : "/\(object)"
    }

    /// Makes a request, several times if need be, and gives what is made of its answer.
    ///
    /// - Parameters:
    ///   - what: the call's name for the log.
    ///   - refused: what to give for a status by which the store refuses the request.
    ///   - read: takes what is wanted from an answer; what it throws is a reason to try again.
    /// - Throws: `AssetFailure.unavailable` when the last attempt failed too; another for a refusal.
    func perform<Value>(
        _ what: String, _ request: Request, refused: [Int: Value] = [:],
        _ read: (ClientResponse) throws(ClientFailure) -> Value
    ) throws(AssetFailure) -> Value {
        var attempt = 1
        var refusal: AssetFailure?
        while true {
            let reason: String
            do throws(ClientFailure) {
                switch try send(request) {
                case .answer(let response): return try read(response)
                case .refused(let status, let code):
                    if let value = refused[status] { return value }
                    refusal = Self.failure(what, status, code)
                    reason = ""
                case .again(let status, let code): reason = "\(status) \(code)"
                }
            } catch {
                switch error {
                case .unreadableBody(let reason): throw .system(call: what, reason: reason)
                case .untrusted: throw .unavailable(call: what, reason: "\(error)")
                default: reason = "\(error)"
                }
            }
            if let refusal { throw refusal }
            guard attempt < options.attemptsMax else {
                throw .unavailable(call: what, reason: "\(reason) (attempts: \(attempt))")
            }
            pause(after: attempt)
            attempt += 1
        }
    }

    private enum Outcome {
        case answer(ClientResponse)
        /// Trying again would not change it.
        case refused(status: Int, code: String)
        case again(status: Int, code: String)
    }

    private func send(_ request: Request) throws(ClientFailure) -> Outcome {
        let path = path(request.key)
        let headers = request.headers + [("host", client.origin.authority)]
        let signed = signer.fields(
            method: request.method, path: path, query: request.query, headers: headers,
            payload: request.payload, at: now)
        let query = SignatureV4.canonicalQuery(request.query)
        let response = try client.send(
            ClientRequest(
                method: request.method, target: query.isEmpty ? path : "\(path)?\(query)",
                headers: request.headers + signed, body: request.body))
        if (200..<300).contains(response.status) { return .answer(response) }
        let code = Self.errorCode(try response.readAll(bytesMax: Self.errorBytesMax))
        if Self.isTransient(response.status, code) {
            return .again(status: response.status, code: code)
        }
        return .refused(status: response.status, code: code)
    }

    /// The word in an answer that tells what went wrong; letters alone, for it goes into the log.
    static func errorCode(_ body: [UInt8]) -> String {
        guard let root = S3Document(body)?.root, root.name == "Error", let code = root["Code"]
        else { return "" }
        return String(
            code.unicodeScalars.filter { $0.isASCII && $0.properties.isAlphabetic }.prefix(64))
    }

    /// Whether the same request may succeed later.
    static func isTransient(_ status: Int, _ code: String) -> Bool {
        switch status {
        case 408, 425, 429, 500, 502, 503, 504: true
        case 409: code == "OperationAborted"
        default: code == "RequestTimeout"
        }
    }

    /// What a refusal means for the storage of assets.
    static func failure(_ what: String, _ status: Int, _ code: String) -> AssetFailure {
        if status == 507 || ["QuotaExceeded", "InsufficientStorage"].contains(code) {
            return .full
        }
        return .system(call: what, reason: "\(status) \(code)")
    }

    /// Waits, longer after each attempt.
    func pause(after attempt: Int) { context.pause(backoff.milliseconds(after: attempt)) }
}
