import XCTest

@testable import LenticularCloudKit

/// Random edits on two devices, with faults, cancellations and restarts: nothing that was added is lost, and
/// both devices end with what the server has.
///
/// `LENTICULAR_STEPS` says how many steps, `LENTICULAR_SEED` repeats a run.
final class SyncEngineModelTests: XCTestCase {
    private struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    private final class Device {
        let app = SyncedApp()
        var engine: CKSyncEngine

        init(_ server: ScriptedSyncServer) {
            engine = app.engine(server)
        }
    }

    private static let passing: [CKError.Code] = [
        .networkFailure, .serverResponseLost, .serviceUnavailable, .zoneBusy, .requestRateLimited,
        .changeTokenExpired,
    ]

    /// What only some requests may fail with: the app adds again what was refused.
    private static let refusing: [CKError.Code] = [.limitExceeded, .invalidArguments]

    func testTwoDevicesEndAlikeAndLoseNothing() async throws {
        let environment = ProcessInfo.processInfo.environment
        let steps = environment["LENTICULAR_STEPS"].flatMap { Int($0) } ?? 2_000
        let seed = environment["LENTICULAR_SEED"].flatMap { UInt64($0) } ?? .random(in: 1 ... .max)
        print("seed \(seed), \(steps) steps")
        var random = Random(state: seed)
        var left = steps
        while left > 0 {
            try await run(min(left, 200), &random)
            left -= 200
        }
    }

    private func run(_ steps: Int, _ random: inout Random) async throws {
        let server = ScriptedSyncServer()
        let devices = [Device(server), Device(server)]
        for device in devices {
            let zone = CKRecordZone(zoneID: SyncedApp.zone)
            device.engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        }
        for step in 0..<steps {
            let device = devices[Int.random(in: 0..<2, using: &random)]
            await act(device, server, step, &random)
            check(device, "step \(step)")
        }
        server.recover()
        for _ in 0..<8 {
            for device in devices {
                try? await device.engine.sendChanges()
                try await device.engine.fetchChanges()
            }
        }
        for device in devices {
            XCTAssertEqual(device.engine.state.pendingRecordZoneChanges, [])
            XCTAssertEqual(device.app.notes, server.texts(in: SyncedApp.zone))
        }
    }

    private func act(
        _ device: Device, _ server: ScriptedSyncServer, _ step: Int, _ random: inout Random
    ) async {
        let name = "n\(Int.random(in: 0..<12, using: &random))"
        if Int.random(in: 0..<5, using: &random) == 0,
            let code = Self.passing.randomElement(using: &random)
        {
            server.fail(with: CKError(code, "by chance"))
        }
        if Int.random(in: 0..<10, using: &random) == 0,
            let code = (Self.passing.dropLast() + Self.refusing + [.operationCancelled])
                .randomElement(using: &random)
        {
            server.failItems(with: CKError(code, "by chance"))
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<4: device.app.write(name, "text \(step)", device.engine)
        case 4: device.app.remove(name, device.engine)
        case 5..<7: try? await device.engine.sendChanges()
        case 7..<9: try? await device.engine.fetchChanges()
        case 9: await cancel(device, after: Int.random(in: 0..<20, using: &random))
        default: await restart(device, server)
        }
    }

    /// Ends a run of sending or fetching somewhere within it.
    private func cancel(_ device: Device, after yields: Int) async {
        let engine = device.engine
        let running = Task {
            try? await engine.sendChanges()
            try? await engine.fetchChanges()
        }
        for _ in 0..<yields { await Task.yield() }
        await engine.cancelOperations()
        await running.value
    }

    /// The process ends after what it was told last, and begins again from there.
    private func restart(_ device: Device, _ server: ScriptedSyncServer) async {
        await device.engine.tellState()
        device.engine = device.app.engine(server, from: device.app.lastState)
    }

    /// What the app wants saved is waiting, or the server has it, or somebody else's edit came over it.
    private func check(_ device: Device, _ place: String) {
        let waiting = Set(device.engine.state.pendingRecordZoneChanges.map(\.recordID))
        XCTAssertEqual(
            waiting.count, device.engine.state.pendingRecordZoneChanges.count, place)
        XCTAssertEqual(device.engine.memory.read(\.recordsInFlight), [], place)
        XCTAssertEqual(device.engine.memory.read(\.databaseInFlight), [], place)
        let unsaved = device.app.unsavedNotes.subtracting(waiting.map(\.recordName))
        XCTAssertEqual(unsaved, [], "\(place): edits that neither wait nor were sent")
    }
}
