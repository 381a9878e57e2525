import CloudModel
import SQLiteStorage
import Storage
import Testing

/// What clients are told when the machinery fails (rulings.md 43, 44).
@Suite("Failures of the storage")
struct FailureTests {
    /// A store that does nothing but fail.
    final class FailingStorage: Store {
        struct Broken: Error, CustomStringConvertible {
            let description = "SELECT secret FROM place at /some/path"
        }

        let failure: any Error
        init(_ failure: any Error) { self.failure = failure }

        let readsAtOnce = true

        func read<Value>(
            _ load: ReadLoad, _ body: (any StoreSnapshot) throws -> Value
        ) throws -> Value { throw failure }

        func readTogether<Value: Sendable>(
            _ needs: @autoclosure () -> StoreNeeds, by caller: StoreCaller,
            _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
            completion: @escaping @Sendable (Result<Value, any Error>) -> Void
        ) { completion(.failure(failure)) }

        func write<Value: Sendable>(
            _ load: WriteLoad,
            _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
            completion: @escaping @Sendable (Result<Value, any Error>) -> Void
        ) { completion(.failure(failure)) }

        let notices = CommitNotices()

        func prepare(_ query: StoreQuery) throws -> Int? { throw failure }
        func hold(_ duty: StoreDuty) throws -> StoreLease? { throw failure }

        func maintain(while goesOn: () -> Bool) throws -> Bool { throw failure }
    }

    private func answers(_ failure: any Error) throws -> (WireServer, [Answer]) {
        let server = try WireServer(storage: FailingStorage(failure))
        let ida = try server.user()
        return (
            server,
            try [
                ida.send("private/zones/list", nil), ida.lookup(["r"], zone: nil),
                ida.databaseChanges(), ida.send("private/changes/zone", #"{"zones":[]}"#),
                ida.save("r", zone: nil).exists ? ida.databaseChanges() : ida.make("Shelf"),
                ida.modify([operation("create", "r")], zone: nil),
            ]
        )
    }

    @Test(
        "A full disk, a conflict, an unknown outcome, a read cut off and a store out of reach are 503 with when to try again, twice"
    )
    func transient() throws {
        for failure in [
            StorageFailure.full, .conflict, .indeterminate, .interrupted, .beginning, .missing,
            .unavailable(.busy), .unavailable(.unreachable("no route")),
        ] {
            for answer in try answers(failure).1 {
                #expect(answer.status == 503 && answer.code == "TRY_AGAIN_LATER")
                #expect(
                    answer.json.keys == ["uuid", "reason", "serverErrorCode", "retryAfter"],
                    "\(answer.text)")
                let seconds = try #require(answer["retryAfter"].int)
                #expect(seconds > 0 && answer.header("Retry-After") == "\(seconds)")
                #expect(answer["uuid"].string == answer.header("X-Apple-Request-UUID"))
            }
        }
    }

    @Test("Any other failure is 500 without a word of it; the operator is told")
    func internalFailure() throws {
        let (server, found) = try answers(FailingStorage.Broken())
        for answer in found {
            #expect(answer.status == 500 && answer.code == "INTERNAL_ERROR")
            #expect(answer.reason == "internal error" && !answer.text.contains("secret"))
        }
        let seen = try server.observed.told(of: #require(found.last))
        #expect(seen.failure == "SELECT secret FROM place at /some/path")
    }
}
