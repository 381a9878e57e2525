import Background
import CloudModel
import Cryptography
import Dispatch
import JSON

/// Asks CloudKit Web Services: signs each request, waits where it is told to, and keeps the newest token.
final class CloudKitRequests {
    /// How often in a row one request is tried.
    static let attemptsMax = 20
    /// Between two attempts, when the service does not say; in units.
    private static let pauseUnitsMax: Int64 = 60
    private static let retryAfterSecondsMax = 3_600
    /// Between two looks whether anybody still waits for the import.
    private static let lookMilliseconds = 1_000

    private let source: CloudKitSource
    private let requests: any SourceRequests
    private let files: any TransferFiles
    private let clock: Clock
    /// The pauses between attempts.
    private let backoff: Backoff
    /// Of a user, as the last answer has it.
    private(set) var webToken = ""
    /// Hears of each new token before anything else is done with the answer.
    var tokenChanged: () throws -> Void = {}

    init(
        _ source: CloudKitSource, over requests: any SourceRequests, for files: any TransferFiles,
        _ clock: Clock, pauseUnitMilliseconds: Int
    ) {
        self.source = source
        self.requests = requests
        self.files = files
        self.clock = clock
        backoff = Backoff(
            first: Int64(pauseUnitMilliseconds),
            longest: Int64(pauseUnitMilliseconds) * Self.pauseUnitsMax)
        if case .webToken(_, let token) = source.credential { webToken = token }
    }

    /// Goes on with the token of an earlier attempt.
    func use(webToken: String) { self.webToken = webToken }

    /// What an operation answers.
    ///
    /// - Throws: `CloudKitRefusal` what the service refuses; `RecordsRefusal` when it cannot be asked at all;
    ///   `TransferAbandoned`.
    func answer(to operation: String, _ body: [UInt8]) throws -> JSONValue {
        var attempt = 0
        while true {
            attempt += 1
            let refusal: CloudKitRefusal
            do {
                let answer = try send(operation, body)
                try note(answer.webToken)
                // NB: whatever is wrong with it, there is no answer.
                let root = try? JSONDocument(parsing: answer.body).root
                if answer.status == 200, let root, root.kind == .object { return root }
                refusal = CloudKitRefusal(answer, root)
            } catch let failure as SourceFailure {
                try note(failure.webToken)
                guard failure.mayPass else {
                    throw RecordsRefusal("\(source.host): \(failure)")
                }
                refusal = CloudKitRefusal(failure)
            }
            guard refusal.mayPass else { throw refusal }
            guard attempt < Self.attemptsMax else {
                throw unreachable("\(refusal), \(attempt) times in a row")
            }
            try pause(after: attempt, refusal.retryAfterSeconds, because: "\(refusal)")
        }
    }

    private func unreachable(_ reason: String) -> RecordsRefusal {
        RecordsRefusal("\(source.host): \(reason); run the same command again to go on")
    }

    private func send(
        _ operation: String, _ body: [UInt8]
    ) throws(SourceFailure) -> SourceAnswer {
        let path = source.path(operation)
        var headers = [(name: "Content-Type", value: "application/json")]
        var target = path
        switch source.credential {
        case .serverKey(let id, let key):
            let date = String(Timestamp(clock.now()).text.prefix(19)) + "Z"
            let digest = Base64.encode(SHA256.digest(body))
            let signature = key.sign(Array("\(date):\(digest):\(path)".utf8))
            headers += [
                ("X-Apple-CloudKit-Request-KeyID", id),
                ("X-Apple-CloudKit-Request-ISO8601Date", date),
                ("X-Apple-CloudKit-Request-SignatureV1", Base64.encode(signature)),
            ]
        case .webToken(let apiToken, _):
            target +=
                "?ckAPIToken=\(PercentEncoding.encode(apiToken))"
                + "&ckWebAuthToken=\(PercentEncoding.encode(webToken))"
        }
        let url = source.host + target
        return try waiting { () throws(SourceFailure) in
            try requests.post(body, to: url, headers: headers)
        }
    }

    private func note(_ token: String?) throws {
        guard case .webToken = source.credential, let token, !token.isEmpty, token != webToken
        else { return }
        webToken = token
        try tokenChanged()
    }

    // MARK: - Files

    /// Gets a file, with attempts as requests have.
    ///
    /// - Parameters:
    ///   - begin: called before each attempt.
    ///   - take: gets the pieces.
    /// - Returns: the status that does not pass: 200, or why there is no file.
    /// - Throws: as `answer`; what `begin` and `take` throw.
    func download(
        _ url: String, begin: () throws -> Void, take: ([UInt8]) throws -> Void
    ) throws -> Int {
        var attempt = 0
        while true {
            attempt += 1
            let reason: String
            do {
                try begin()
                let status = try requests.download(url, take)
                guard CloudKitRefusal.passingStatuses.contains(status) else { return status }
                reason = "status \(status)"
            } catch let failure as SourceFailure {
                guard failure.mayPass else { throw unreachable("an asset: \(failure)") }
                reason = failure.description
            }
            guard attempt < Self.attemptsMax else { throw unreachable("an asset: \(reason)") }
            try pause(after: attempt, nil, because: reason)
        }
    }

    // MARK: - Pauses

    /// Waits before the next attempt, longer each time.
    func pause(after attempt: Int, _ retryAfterSeconds: Double?, because reason: String) throws {
        var milliseconds = Int(backoff.milliseconds(after: attempt))
        if let seconds = retryAfterSeconds, seconds >= 0 {
            milliseconds = Int(min(seconds, Double(Self.retryAfterSecondsMax)) * 1_000)
        }
        repeat {
            guard files.tell("waiting: \(reason)") else { throw TransferAbandoned() }
            let piece = min(milliseconds, Self.lookMilliseconds)
            waiting { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(piece)) }
            milliseconds -= piece
        } while milliseconds > 0
    }

    private func waiting<Result, Failure: Error>(
        _ wait: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try files.pause(wait)
    }
}

/// What the service answers in place of what it was asked for.
struct CloudKitRefusal: Error, CustomStringConvertible {
    static let passingStatuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    private static let passingCodes: Set<String> = [
        "THROTTLED", "TRY_AGAIN_LATER", "ZONE_BUSY", "INTERNAL_ERROR",
    ]

    let status: Int
    let code: String
    let reason: String
    let retryAfterSeconds: Double?

    init(_ answer: SourceAnswer, _ root: JSONValue?) {
        status = answer.status
        code = root?["serverErrorCode"]?.string ?? ""
        reason = root?["reason"]?.string ?? ""
        retryAfterSeconds =
            root?["retryAfter"]?.double ?? answer.retryAfterSeconds.map { Double($0) }
    }

    init(_ failure: SourceFailure) {
        status = 503
        code = ""
        reason = failure.description
        retryAfterSeconds = nil
    }

    /// What is said of one item of an answer.
    init(item: JSONValue) {
        status = 0
        code = item["serverErrorCode"]?.string ?? ""
        reason = item["reason"]?.string ?? ""
        retryAfterSeconds = item["retryAfter"]?.double
    }

    /// Whether the same request may be answered a little later.
    var mayPass: Bool {
        Self.passingStatuses.contains(status) || Self.passingCodes.contains(code)
            || status == 200 && code.isEmpty
    }

    /// Whether it does not know who asks, or not any more.
    var isOfCredential: Bool {
        status == 401 || status == 421 || code == "AUTHENTICATION_FAILED"
            || code == "AUTHENTICATION_REQUIRED"
    }

    var description: String {
        let said = [code, reason].filter { !$0.isEmpty }.map { Fault.shown($0) }
        return said.isEmpty ? "status \(status)" : said.joined(separator: ": ")
    }
}
