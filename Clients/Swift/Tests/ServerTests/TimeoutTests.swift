import CloudKitTransport
import LenticularCloudKit
import XCTest

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

#if canImport(Glibc)
    /// Servers that say nothing, or not enough, for longer than an app wants to wait.
    ///
    /// Time passes once a server has had a request, so that no busy machine can say what comes of it.
    final class TimeoutTests: XCTestCase {
        private func database(
            of server: SilentServer, _ clock: RequestClock, request: Double,
            resource: Double? = nil
        ) -> CKDatabase {
            let service = CKServerAccess(
                url: server.url, apiToken: "api", credentials: .webAuthToken("token"))
            let container = CKContainer(
                identifier: "iCloud.test",
                connection: ServiceConnection(
                    service, container: "iCloud.test",
                    exchange: NetworkExchange(.ephemeral, clock: clock)))
            let limits = CKOperation.Configuration()
            limits.timeoutIntervalForRequest = request
            if let resource { limits.timeoutIntervalForResource = resource }
            return container.privateCloudDatabase.configuredWith(configuration: limits) { $0 }
        }

        private static func failure(_ body: () async throws -> Void) async -> CKError.Code? {
            do {
                try await body()
                return nil
            } catch {
                return (error as? CKError)?.code
            }
        }

        private static func save(in database: CKDatabase) async throws {
            try await database.save(CKRecord(recordType: "Note"))
        }

        /// - Returns: how it ends, and how long it was to wait first.
        private func ending(
            on server: SilentServer, request: Double, resource: Double? = nil,
            _ body: @escaping @Sendable (CKDatabase) async throws -> Void
        ) async -> (code: CKError.Code?, wait: Duration?) {
            let clock = StoppedClock()
            let database = database(
                of: server, clock.requests, request: request, resource: resource)
            async let code = Self.failure { try await body(database) }
            for await _ in server.answered { break }
            clock.run()
            return (await code, clock.waits.first)
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
                let read = await ending(on: server, request: 7) {
                    _ = try await $0.allRecordZones()
                }
                XCTAssertEqual(read.code, .networkFailure, place)
                XCTAssertEqual(read.wait, .seconds(7), place)
                let write = await ending(on: server, request: 7) {
                    try await Self.save(in: $0)
                }
                XCTAssertEqual(write.code, .serverResponseLost, place)
            }
        }

        func testTheWholeHasALimitOfItsOwn() async throws {
            let server = try SilentServer(.all(""))
            defer { server.stop() }
            let write = await ending(on: server, request: 60, resource: 5) {
                try await Self.save(in: $0)
            }
            XCTAssertEqual(write.code, .serverResponseLost)
            XCTAssertLessThanOrEqual(try XCTUnwrap(write.wait), .seconds(5))
        }

        func testWhatHasNotLeftWasNotDone() async throws {
            let server = try SilentServer(.unreachable)
            defer { server.stop() }
            let begin = ContinuousClock.now
            let database = database(of: server, .real, request: 0.3)
            let write = await Self.failure { try await Self.save(in: database) }
            XCTAssertEqual(write, .networkFailure)
            XCTAssertGreaterThanOrEqual(ContinuousClock.now - begin, .seconds(0.3))
        }

        func testAnAnswerThatComesSlowlyIsWaitedForUntilItFallsSilentOrTakesTooLongInAll()
            async throws
        {
            for (timeLimits, last) in [
                (TimeLimits(silenceSeconds: 10), Duration.seconds(10)),
                (TimeLimits(silenceSeconds: 10, wholeSeconds: 40), .seconds(7)),
            ] {
                let server = try SilentServer(
                    .all("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"))
                defer { server.stop() }
                let clock = StoppedClock()
                let exchange = NetworkExchange(.ephemeral, clock: clock.requests)
                let (body, _) = try await exchange.stream(URLRequest(url: server.url), timeLimits)
                var pieces = body.makeAsyncIterator()
                for _ in 0..<5 {
                    clock.advance(by: .seconds(7))
                    server.say("a")
                    let piece = try await pieces.next()
                    XCTAssertEqual(piece, Data("a".utf8))
                }
                clock.advance(by: last)
                do {
                    _ = try await pieces.next()
                    XCTFail("expected a time-out")
                } catch let error as BrokenRequest {
                    XCTAssertEqual((error.cause as? URLError)?.code, .timedOut)
                }
            }
        }

        func testACancelledRequestEndsAtOnce() async throws {
            let server = try SilentServer(.all(""))
            defer { server.stop() }
            let database = database(of: server, .real, request: 60)
            let task = Task { try await database.allRecordZones() }
            for await _ in server.answered { break }
            task.cancel()
            let code = await Self.failure { _ = try await task.value }
            XCTAssertEqual(code, .operationCancelled)
        }
    }
#endif
