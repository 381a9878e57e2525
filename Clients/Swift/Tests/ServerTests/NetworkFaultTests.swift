import LenticularCloudKit
import XCTest

#if canImport(Glibc)
    /// Requests that break on their way, in each way that a network has.
    final class NetworkFaultTests: XCTestCase {
        private let zone = CKRecordZone(zoneName: "Notes")

        func testEachWayToBreakHasItsErrorAndOnlyLostAnswersMayHaveBeenCarriedOut() async throws {
            let server = try ReleaseServer()
            let proxy = try FaultyProxy(target: server.url)
            let database = try server.container(of: "ann@example.org", by: proxy.port)
                .privateCloudDatabase
            try await database.save(zone)
            let table: [(FaultyProxy.Fate, CKError.Code?, Bool)] = [
                (.pass, nil, true), (.delay, nil, true),
                (.cutBefore, .serverResponseLost, false), (.loseAnswer, .serverResponseLost, true),
                (.cutAnswer, .serverResponseLost, true),
            ]
            for (index, (fate, code, isDone)) in table.enumerated() {
                let record = CKRecord(
                    recordType: "Note",
                    recordID: CKRecord.ID(recordName: "n\(index)", zoneID: zone.zoneID))
                record["text"] = "Tea"
                proxy.plan { fate }
                do {
                    try await database.save(record)
                    XCTAssertNil(code, "\(fate)")
                } catch {
                    XCTAssertEqual((error as? CKError)?.code, code, "\(fate): \(error)")
                }
                let isTold = fate == .pass || fate == .delay
                do {
                    _ = try await database.record(for: record.recordID)
                    XCTAssertTrue(isTold, "\(fate)")
                } catch let error as CKError where !isTold {
                    XCTAssertEqual(error.code, .networkFailure, "a read that breaks: \(fate)")
                }
                proxy.plan { .pass }
                let found = try? await database.record(for: record.recordID)
                XCTAssertEqual(found != nil, isDone, "\(fate)")
            }
        }

        /// Adds one at a time to a number; what was told to be done is counted, and nothing twice.
        func testNoSaveIsDoubledAndNoneIsLostThatWasToldToBeDone() async throws {
            let server = try ReleaseServer()
            let proxy = try FaultyProxy(target: server.url)
            let container = try server.container(of: "ann@example.org", by: proxy.port)
            let database = container.privateCloudDatabase
            try await database.save(zone)
            let id = CKRecord.ID(recordName: "counter", zoneID: zone.zoneID)
            var counter = CKRecord(recordType: "Counter", recordID: id)
            counter["count"] = 0
            try await database.save(counter)
            let numbers = SeededNumbers()
            proxy.plan(numbers.breaking(40))
            var done = 0
            for step in 0..<150 {
                let before = counter["count"] as? Int ?? 0
                counter["count"] = before + 1
                counter["step"] = step
                do {
                    try await database.save(counter)
                    done += 1
                } catch {
                    // Nobody knows: look, as the error says.
                    counter = try await looked(for: id, in: database)
                    if counter["step"] as? Int == step { done += 1 }
                }
            }
            proxy.plan { .pass }
            let last = try await database.record(for: id)
            XCTAssertEqual(last["count"] as? Int, done, "LENTICULAR_SEED=\(numbers.seed)")
            XCTAssertGreaterThan(done, 50)
        }

        private func looked(for id: CKRecord.ID, in database: CKDatabase) async throws -> CKRecord {
            while true {
                do {
                    return try await database.record(for: id)
                } catch CKError.networkFailure {}
            }
        }

        func testTwoEnginesEndAlikeThroughANetworkThatBreaks() async throws {
            let server = try ReleaseServer()
            let proxy = try FaultyProxy(target: server.url)
            let devices = try (0..<2).map { _ in
                NotesDevice(try server.container(of: "ann@example.org", by: proxy.port))
            }
            let numbers = SeededNumbers()
            proxy.plan(numbers.breaking(25))
            let steps =
                ProcessInfo.processInfo.environment["LENTICULAR_STEPS"].flatMap { Int($0) } ?? 120
            for step in 0..<steps {
                let device = devices[numbers.below(2)]
                let name = "n\(numbers.below(10))"
                switch numbers.below(8) {
                case 0..<4: device.write(name, "text \(step)")
                case 4: device.remove(name)
                case 5, 6: try? await device.engine.sendChanges()
                default: try? await device.engine.fetchChanges()
                }
                if numbers.below(20) == 0 { await device.restart() }
            }
            proxy.plan { .pass }
            for _ in 0..<6 {
                for device in devices {
                    try? await device.engine.sendChanges()
                    try await device.engine.fetchChanges()
                }
            }
            let page = try await devices[0].engine.database.recordZoneChanges(
                inZoneWith: NotesDevice.zone, since: nil)
            let there = try page.modificationResultsByID.values.map { try $0.get().record }
            let texts = Dictionary(
                there.map { ($0.recordID.recordName, $0["text"] as? String ?? "") }
            ) { $1 }
            for device in devices {
                XCTAssertEqual(device.engine.state.pendingRecordZoneChanges, [])
                XCTAssertEqual(device.notes, texts, "LENTICULAR_SEED=\(numbers.seed)")
            }
        }
    }
#endif
