import LenticularCloudKit
import XCTest

#if canImport(Glibc)
    /// Servers that say nothing, or not enough, for longer than an app wants to wait.
    final class TimeoutTests: XCTestCase {
        /// Far more than the limits of these tests, far less than the usual ones.
        private static let secondsMax = 20.0

        private func database(
            of server: SilentServer, request: Double, resource: Double? = nil
        ) -> CKDatabase {
            let container = CKContainer(
                identifier: "iCloud.test",
                service: CKServerAccess(
                    url: server.url, apiToken: "api", credentials: .webAuthToken("token")))
            let limits = CKOperation.Configuration()
            limits.timeoutIntervalForRequest = request
            if let resource { limits.timeoutIntervalForResource = resource }
            return container.privateCloudDatabase.configuredWith(configuration: limits) { $0 }
        }

        /// - Parameter least: what it waits at least, in seconds.
        private func failure(
            after least: Double = 0, _ body: () async throws -> Void
        ) async -> CKError.Code? {
            let begin = Date()
            defer {
                XCTAssertGreaterThanOrEqual(-begin.timeIntervalSinceNow, least)
                XCTAssertLessThan(-begin.timeIntervalSinceNow, Self.secondsMax)
            }
            do {
                try await body()
                return nil
            } catch {
                return (error as? CKError)?.code
            }
        }

        private func save(in database: CKDatabase) async throws {
            try await database.save(CKRecord(recordType: "Note"))
        }

        func testServersThatFallSilentAreNotWaitedForAndWhatMayBeDoneIsSaidSo() async throws {
            let places = [
                "before the head": "", "in the head": "HTTP/1.1 200 OK\r\nContent-Le",
                "after the head": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n",
                "in the body": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"zones\":",
            ]
            for (place, words) in places {
                let server = try SilentServer(.all(words))
                defer { server.stop() }
                let database = database(of: server, request: 0.3)
                let read = await failure(after: 0.3) { _ = try await database.allRecordZones() }
                XCTAssertEqual(read, .networkFailure, place)
                let write = await failure(after: 0.3) { try await save(in: database) }
                XCTAssertEqual(write, .serverResponseLost, place)
            }
        }

        func testWhatHasNotLeftWasNotDone() async throws {
            let server = try SilentServer(.unreachable)
            defer { server.stop() }
            let database = database(of: server, request: 0.3)
            let write = await failure(after: 0.3) { try await save(in: database) }
            XCTAssertEqual(write, .networkFailure)
        }

        func testAnAnswerThatComesSlowlyIsWaitedForAndTheWholeHasALimitOfItsOwn() async throws {
            let body = #"{"zones":[]}"#
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            let server = try SilentServer(.slowly(head, body, seconds: 0.1))
            defer { server.stop() }
            let patient = database(of: server, request: 2)
            let zones = try await patient.allRecordZones()
            XCTAssertEqual(zones, [])
            let limited = database(of: server, request: 2, resource: 0.5)
            let read = await failure(after: 0.5) { _ = try await limited.allRecordZones() }
            XCTAssertEqual(read, .networkFailure)
            let write = await failure { try await save(in: limited) }
            XCTAssertEqual(write, .serverResponseLost)
        }

        func testACancelledRequestEndsAtOnce() async throws {
            let server = try SilentServer(.all(""))
            defer { server.stop() }
            let database = database(of: server, request: 60)
            let task = Task { try await database.allRecordZones() }
            task.cancel()
            let code = await failure { _ = try await task.value }
            XCTAssertEqual(code, .operationCancelled)
        }
    }
#endif
