import CloudKitTransport
import CloudKitWire
import XCTest

@testable import LenticularCloudKit

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

final class ErrorTableTests: XCTestCase {
    private func database() -> CKDatabase {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [ScriptedAnswers.self]
        let connection = ServiceConnection(
            CKServerAccess(
                url: URL(string: "http://scripted.invalid")!, apiToken: "api",
                credentials: .webAuthToken("secret-token")),
            container: "iCloud.test",
            exchange: NetworkExchange(configuration))
        return CKContainer(identifier: "iCloud.test", connection: connection)
            .privateCloudDatabase
    }

    private func answer(_ status: Int, _ body: String) async -> CKError? {
        ScriptedAnswers.answer = .init(status: status, body: body)
        return await failure { _ = try await database().allRecordZones() }
    }

    func testFaultsOfTheWholeRequestBecomeTheirNativeErrors() async {
        let table: [(Int, String, CKError.Code)] = [
            (409, "CONFLICT", .serverRecordChanged), (409, "EXISTS", .serverRecordChanged),
            (404, "NOT_FOUND", .unknownItem), (404, "ZONE_NOT_FOUND", .zoneNotFound),
            (400, "ATOMIC_ERROR", .batchRequestFailed), (403, "ACCESS_DENIED", .permissionFailure),
            (413, "QUOTA_EXCEEDED", .quotaExceeded),
            (412, "VALIDATING_REFERENCE_ERROR", .referenceViolation),
            (412, "UNIQUE_FIELD_ERROR", .constraintViolation),
            (421, "AUTHENTICATION_REQUIRED", .notAuthenticated),
            (401, "AUTHENTICATION_FAILED", .notAuthenticated),
            (429, "THROTTLED", .requestRateLimited), (503, "TRY_AGAIN_LATER", .serviceUnavailable),
            (400, "BAD_REQUEST", .invalidArguments), (500, "INTERNAL_ERROR", .internalError),
            (400, "SOMETHING_NEW", .internalError),
        ]
        for (status, word, code) in table {
            let error = await answer(
                status, #"{"uuid":"u-1","serverErrorCode":"\#(word)","reason":"why"}"#)
            XCTAssertEqual(error?.code, code, word)
            XCTAssertTrue(error?.localizedDescription.contains("why") ?? false, word)
            XCTAssertTrue(error?.localizedDescription.contains("u-1") ?? false, word)
        }
    }

    func testDetailsTellBadRequestsApart() async {
        let table: [(String, CKError.Code)] = [
            (#""changeTokenExpired":true"#, .changeTokenExpired),
            (#""detail":"limitExceeded""#, .limitExceeded),
            (#""detail":"alreadyShared""#, .alreadyShared),
            (#""detail":"tooManyParticipants""#, .tooManyParticipants),
            (#""detail":"participantAlreadyInvited""#, .participantAlreadyInvited),
            (#""detail":"something new""#, .invalidArguments),
        ]
        for (key, code) in table {
            let error = await answer(
                400, #"{"serverErrorCode":"BAD_REQUEST","reason":"why",\#(key)}"#)
            XCTAssertEqual(error?.code, code, key)
        }
        let purged = await answer(
            404, #"{"serverErrorCode":"ZONE_NOT_FOUND","reason":"","detail":"zonePurged"}"#)
        XCTAssertEqual(purged?.code, .userDeletedZone)
        let reset = await answer(
            404,
            #"{"serverErrorCode":"ZONE_NOT_FOUND","reason":"","detail":"encryptedDataReset"}"#)
        XCTAssertEqual(reset?.code, .zoneNotFound)
        XCTAssertNotNil(reset?.userInfo[CKErrorUserDidResetEncryptedDataKey])
    }

    func testRetryDelaysComeFromTheAnswerOrAreMadeUp() async {
        let throttled = await answer(
            429, #"{"serverErrorCode":"THROTTLED","reason":"","retryAfter":17}"#)
        XCTAssertEqual(throttled?.retryAfterSeconds, 17)
        for (said, waited) in [("1e300", 86_400.0), ("-5", 0), ("0.5", 0.5)] {
            let strange = await answer(
                429, #"{"serverErrorCode":"THROTTLED","reason":"","retryAfter":\#(said)}"#)
            XCTAssertEqual(strange?.retryAfterSeconds, waited, said)
        }
        for word in ["inf", "nan", "-inf"] {
            let fault = WireFault(
                code: "THROTTLED", reason: "", retryAfterSeconds: Double(word))
            XCTAssertNil(fault.retryAfterSeconds, word)
        }
        let silent = await answer(503, #"{"serverErrorCode":"TRY_AGAIN_LATER","reason":""}"#)
        XCTAssertNotNil(silent?.retryAfterSeconds)
        let denied = await answer(403, #"{"serverErrorCode":"ACCESS_DENIED","reason":""}"#)
        XCTAssertNil(denied?.retryAfterSeconds)
    }

    func testTheHeadSaysWhenToComeBackWhereTheBodyDoesNotAndByAnyForm() async {
        let body = #"{"serverErrorCode":"THROTTLED","reason":""}"#
        let dates = [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ]
        let now = ["Date": "Sun, 06 Nov 1994 08:49:07 GMT"]
        for text in dates {
            for body in [body, "<html>"] {
                let headers = now.merging(["Retry-After": text]) { $1 }
                ScriptedAnswers.answer = .init(status: 429, body: body, headers: headers)
                let error = await failure { _ = try await database().allRecordZones() }
                XCTAssertEqual(error?.retryAfterSeconds, 30, "\(text) \(body)")
            }
        }
        let table: [(String, [String: String], Double)] = [
            (body, ["Retry-After": "17"], 17), (body, ["Retry-After": "Sun, 06 Nov 1994"], 5),
            (body, ["Retry-After": dates[0], "Date": "Sun, 06 Nov 1994 09:00:00 GMT"], 0),
            (body, ["Retry-After": dates[0]], 0),
            (
                #"{"serverErrorCode":"THROTTLED","reason":"","retryAfter":3}"#,
                ["Retry-After": "17"], 3
            ),
        ]
        for (body, headers, seconds) in table {
            ScriptedAnswers.answer = .init(status: 429, body: body, headers: headers)
            let error = await failure { _ = try await database().allRecordZones() }
            XCTAssertEqual(error?.retryAfterSeconds, seconds, "\(headers)")
        }
    }

    func testAProxyThatHasWaitedInVainDoesNotKnowWhatWasDone() async {
        for (status, code) in [
            (502, CKError.Code.serverResponseLost), (504, .serverResponseLost),
            (503, .serviceUnavailable),
        ] {
            ScriptedAnswers.answer = .init(status: status, body: "<html>")
            let error = await failure {
                try await database().save(CKRecordZone(zoneName: "Z"))
            }
            XCTAssertEqual(error?.code, code, "\(status)")
        }
    }

    func testWhatIsNotOfTheProtocolIsToldWithoutTrapping() async {
        for body in ["", "<html>", "[]", "null", "{", #"{"zones":5}"#] {
            let error = await answer(500, body)
            XCTAssertEqual(error?.code, .internalError, body)
        }
        let proxy = await answer(502, "<html>bad gateway</html>")
        XCTAssertEqual(proxy?.code, .serviceUnavailable)
        let busy = await answer(429, "slow down")
        XCTAssertEqual(busy?.code, .requestRateLimited)
    }

    func testFailuresOfTheNetworkBecomeTheirNativeErrors() async {
        let table: [(URLError.Code, CKError.Code)] = [
            (.notConnectedToInternet, .networkUnavailable), (.cannotConnectToHost, .networkFailure),
            (.cannotFindHost, .networkFailure), (.timedOut, .networkFailure),
            (.networkConnectionLost, .networkFailure), (.badServerResponse, .networkFailure),
            (.cancelled, .operationCancelled),
        ]
        for (failure, code) in table {
            ScriptedAnswers.answer = .init(failure: failure)
            do {
                _ = try await database().allRecordZones()
                XCTFail("expected \(code)")
            } catch {
                XCTAssertEqual((error as? CKError)?.code, code, "\(failure)")
                XCTAssertFalse("\(error)".contains("secret-token"))
            }
        }
    }

    func testOnlyWritesWhoseAnswerIsLostMayHaveBeenCarriedOut() async {
        for failure in [
            URLError.Code.networkConnectionLost, .badServerResponse, .unknown,
        ] {
            ScriptedAnswers.answer = .init(failure: failure)
            do {
                try await database().save(CKRecordZone(zoneName: "Z"))
                XCTFail("expected an error")
            } catch {
                XCTAssertEqual((error as? CKError)?.code, .serverResponseLost, "\(failure)")
            }
        }
    }
}

/// Answers every request as the test says.
final class ScriptedAnswers: URLProtocol {
    struct Answer: Sendable {
        var status = 200
        var body = ""
        var headers: [String: String] = [:]
        var failure: URLError.Code?
    }

    private static let lock = NSLock()
    private nonisolated(unsafe) static var next = Answer()

    static var answer: Answer {
        get { lock.withLock { next } }
        set { lock.withLock { next = newValue } }
    }

    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let answer = Self.answer
        if let failure = answer.failure {
            client?.urlProtocol(self, didFailWithError: URLError(failure))
            return
        }
        guard let url = request.url,
            let response = HTTPURLResponse(
                url: url, statusCode: answer.status, httpVersion: "HTTP/1.1",
                headerFields: answer.headers)
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data(answer.body.utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
