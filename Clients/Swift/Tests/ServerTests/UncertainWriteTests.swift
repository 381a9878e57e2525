import CloudKitWire
import LenticularCloudKit
import XCTest

#if canImport(Glibc)
    /// Saves whose answers are lost, and which are tried again.
    final class UncertainWriteTests: XCTestCase {
        private let zone = CKRecordZone(zoneName: "Notes")

        private func record(_ name: String) -> CKRecord {
            let record = CKRecord(
                recordType: "Counter",
                recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
            record["count"] = 0
            return record
        }

        /// Tries until it is known what has become of it.
        private func untilCertain<Value>(_ body: () async throws -> Value) async throws -> Value {
            while true {
                do {
                    return try await body()
                } catch CKError.serverResponseLost {
                } catch CKError.networkFailure {}
            }
        }

        func testAMadeRecordAndABatchAreKnownAgainAndGoOnWithWhatWasChangedSince() async throws {
            let server = try ReleaseServer()
            let proxy = try FaultyProxy(target: server.url)
            let database = try server.container(of: "ann@example.org", by: proxy.port)
                .privateCloudDatabase
            try await database.save(zone)
            let batch = [record("a"), record("b")]
            for round in 0..<2 {
                proxy.plan { .loseAnswer }
                for record in batch { record["count"] = round * 2 + 1 }
                do {
                    try await database.modifyRecords(saving: batch)
                    XCTFail("expected a lost answer")
                } catch CKError.serverResponseLost {}
                proxy.plan { .pass }
                batch[0]["count"] = round * 2 + 2
                let done = try await database.modifyRecords(saving: batch)
                for result in done.saveResults.values { _ = try result.get() }
            }
            for (name, count) in [("a", 4), ("b", 3)] {
                let found = try await database.record(for: record(name).recordID)
                XCTAssertEqual(found["count"] as? Int, count)
            }
        }

        func testSomebodyElsesWriteIsAConflictAsEver() async throws {
            let server = try ReleaseServer()
            let proxy = try FaultyProxy(target: server.url)
            let database = try server.container(of: "ann@example.org", by: proxy.port)
                .privateCloudDatabase
            let other = try server.container(of: "ann@example.org").privateCloudDatabase
            try await database.save(zone)
            for (fate, name) in [(FaultyProxy.Fate.cutBefore, "a"), (.loseAnswer, "b")] {
                let mine = record(name)
                try await database.save(mine)
                mine["count"] = 7
                var theirs = try await other.record(for: mine.recordID)
                proxy.plan { fate }
                do {
                    try await database.save(mine)
                    XCTFail("expected a lost answer")
                } catch CKError.serverResponseLost {}
                proxy.plan { .pass }
                if fate == .loseAnswer { theirs = try await other.record(for: mine.recordID) }
                // The same value: nobody may take it for one's own.
                theirs["count"] = 7
                try await other.save(theirs)
                do {
                    try await database.save(mine)
                    XCTFail("expected a conflict")
                } catch let error as CKError where error.code == .serverRecordChanged {
                    XCTAssertEqual(error.serverRecord?.recordChangeTag, theirs.recordChangeTag)
                }
            }
        }

        func testAnOperationThatWaitsFailuresOutGoesOnFromItsOwnWrite() async throws {
            let server = try ReleaseServer()
            let proxy = try FaultyProxy(target: server.url)
            let database = try server.container(of: "ann@example.org", by: proxy.port)
                .privateCloudDatabase
            try await database.save(zone)
            let made = record("a")
            let isFirst = Locked(true)
            proxy.plan {
                isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst ? .loseAnswer : .pass
                }
            }
            let operation = CKModifyRecordsOperation(recordsToSave: [made])
            operation.qualityOfService = .utility
            let saved = expectation(description: "saved")
            operation.perRecordSaveBlock = { _, result in
                if case .failure(let error) = result { XCTFail("\(error)") }
            }
            operation.modifyRecordsResultBlock = { result in
                if case .failure(let error) = result { XCTFail("\(error)") }
                saved.fulfill()
            }
            database.add(operation)
            await fulfillment(of: [saved], timeout: 60)
            XCTAssertNotNil(made.recordChangeTag)
        }

        /// Two writers add one at a time to a number of both, and each to one of its own, through a network that breaks.
        func testEverythingIsCountedOnceThroughANetworkThatBreaks() async throws {
            let numbers = SeededNumbers()
            let seed = numbers.seed
            let server = try ReleaseServer()
            let proxy = try FaultyProxy(target: server.url)
            let databases = try (0..<2).map { _ in
                try server.container(of: "ann@example.org", by: proxy.port).privateCloudDatabase
            }
            try await databases[0].save(zone)
            try await databases[0].save(record("ours"))
            proxy.plan(numbers.breaking(35))
            var own = [record("mine 0"), record("mine 1")]
            var known: [CKRecord] = []
            for database in databases {
                known.append(
                    try await untilCertain {
                        try await database.record(for: record("ours").recordID)
                    })
            }
            var counts = [0, 0]
            var ours = 0
            let steps =
                ProcessInfo.processInfo.environment["LENTICULAR_STEPS"].flatMap { Int($0) } ?? 80
            for _ in 0..<steps {
                let who = numbers.below(2)
                let database = databases[who]
                counts[who] += 1
                let mine = own[who]
                mine["count"] = counts[who]
                // Nobody else writes it: a conflict could only be with oneself.
                own[who] = try await untilCertain { try await database.save(mine) }
                while true {
                    let record = known[who]
                    record["count"] = (record["count"] as? Int ?? 0) + 1
                    do {
                        try await untilCertain { _ = try await database.save(record) }
                        ours += 1
                        break
                    } catch let error as CKError where error.code == .serverRecordChanged {
                        known[who] = try XCTUnwrap(error.serverRecord)
                    }
                }
            }
            proxy.plan { .pass }
            let last = try await databases[0].record(for: record("ours").recordID)
            XCTAssertEqual(last["count"] as? Int, ours, "LENTICULAR_SEED=\(seed)")
            XCTAssertEqual(ours, steps)
            for (index, record) in own.enumerated() where counts[index] > 0 {
                let last = try await databases[index].record(for: record.recordID)
                XCTAssertEqual(last["count"] as? Int, counts[index], "LENTICULAR_SEED=\(seed)")
            }
        }
    }
#endif
