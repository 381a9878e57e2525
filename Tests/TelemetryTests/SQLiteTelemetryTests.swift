import CloudModel
import Foundation
import SQLite
import SQLiteStorage
import Seeding
import Telemetry
import Testing

@Suite("Telemetry on SQLite")
struct SQLiteTelemetryTests {
    private static let day: Milliseconds = 86_400_000
    /// The beginning of a day, and so of a row of every step.
    private static let start = 20_833 * day
    private let folder: TelemetryFolder

    init() throws { folder = try TelemetryFolder() }

    private func name(_ operation: String = "o") -> SeriesName {
        SeriesName(
            .requests, container: "icloud.a", environment: "production", operation: operation)
    }

    private func question(_ step: TelemetryStep, _ moments: Range<Milliseconds>) -> RowQuestion {
        RowQuestion([.requests], of: "icloud.a", in: "production", step: step, moments: moments)
    }

    private func add(
        _ totals: TelemetryTotals, at moment: Milliseconds, _ operation: String = "o",
        to storage: SQLiteTelemetry
    ) throws {
        try storage.add(TelemetryMinute(start: moment, series: [name(operation): totals]))
    }

    @Test("Minutes add up to quarter-hours and to six hours, also over a restart")
    func steps() throws {
        var storage = try folder.open()
        for minute in 0..<720 {
            if minute == 300 {
                storage.close()
                storage = try folder.open()
            }
            try add(.of(1), at: Self.start + Int64(minute) * 60_000, to: storage)
        }
        let whole = Self.start..<(Self.start + Self.day)
        for (step, count) in [(TelemetryStep.minute, 720), (.quarterHour, 48), (.sixHours, 2)] {
            let rows = try storage.rows(question(step, whole)).flatMap(\.rows)
            #expect(rows.count == count)
            #expect(rows.allSatisfy { $0.totals.requests == UInt64(720 / count) })
        }
    }

    @Test("A minute that is put away in two parts is one row")
    func parts() throws {
        let storage = try folder.open()
        try add(.of(3), at: Self.start, to: storage)
        try add(.of(4), at: Self.start, to: storage)
        let rows = try storage.rows(question(.minute, Self.start..<(Self.start + 60_000)))
        #expect(rows.flatMap(\.rows).map(\.totals.requests) == [7])
    }

    @Test(
        "Rows go when their time is over: minutes after two days, the rest after a month and 400 days"
    )
    func retention() throws {
        let storage = try folder.open()
        try add(.of(1), at: Self.start, "old", to: storage)
        func operations(_ step: TelemetryStep) throws -> [String] {
            try storage.rows(question(step, Self.start..<(Self.start + 1))).map(\.name.operation)
        }
        for (days, left) in [(1, 3), (3, 2), (32, 1), (399, 1), (401, 0)] {
            try add(.of(1), at: Self.start + Int64(days) * Self.day, to: storage)
            let kept = try TelemetryStep.allCases.count { try !operations($0).isEmpty }
            #expect(kept == left, "\(days)")
        }
        // Its name went with it.
        storage.close()
        let connection = try Connection(path: folder.file, mode: .readOnly)
        let names = try connection.prepare("SELECT operation FROM series").all { $0.string(0) }
        #expect(names == ["o"])
    }

    @Test("Starts are kept once a minute, as long as charts go back, also over a restart")
    func starts() throws {
        var storage = try folder.open()
        let whole = Self.start..<(Self.start + 1_000 * Self.day)
        for seconds in [0, 1, 59, 60, 61, 125] as [Int64] {
            try storage.noteStart(at: Self.start + seconds * 1_000)
            storage.close()
            storage = try folder.open()
        }
        let minutes = [0, 1, 2].map { Self.start + $0 * 60_000 }
        #expect(try storage.starts(in: whole, limit: 10) == minutes)
        #expect(try storage.starts(in: whole, limit: 2) == Array(minutes.dropFirst()))
        #expect(
            try storage.starts(in: minutes[1]..<minutes[2], limit: 10) == [minutes[1]])
        let later = Self.start + 400 * Self.day + 60_000
        try storage.noteStart(at: later)
        #expect(try storage.starts(in: whole, limit: 10) == [minutes[1], minutes[2], later])
    }

    @Test("Users are hashed by a key that stays, and that another database does not have")
    func keys() throws {
        let hash = try folder.open().userHash.of("_a")
        #expect(try folder.open().userHash.of("_a") == hash)
        #expect(try TelemetryFolder().open().userHash.of("_a") != hash)
    }

    @Test("A day's figures are its last ones")
    func figures() throws {
        let storage = try folder.open()
        func figures(_ day: Int64, _ records: Int64) -> ContainerFigures {
            ContainerFigures(
                container: "icloud.a", environment: "production", day: day, records: records,
                recordBytes: 2, assets: 3, assetBytes: 4, tombstones: 5, users: 6)
        }
        for (day, records) in [(10, 1), (10, 2), (11, 3)] as [(Int64, Int64)] {
            try storage.note(figures(day, records))
        }
        #expect(
            try storage.figures(of: "icloud.a", in: "production", days: 10...11)
                == [figures(10, 2), figures(11, 3)])
        #expect(try storage.figures(of: "icloud.a", in: "development", days: 10...11).isEmpty)
    }

    @Test(
        "A year of 60 series takes less than 100 MB, and its charts are read while nobody waits long"
    )
    func size() throws {
        var random = SeededRandom("a year of telemetry")
        let storage = try folder.open()
        var bytes: [TelemetryStep: Int] = [:]
        for step in TelemetryStep.allCases {
            // As many requests as come in the time of a row of a busy series: up to ten a second.
            for _ in 0..<40 {
                var totals = TelemetryTotals()
                let perMinute = Int.random(in: 1...600, using: &random)
                let count = min(perMinute * Int(step.rawValue / 60), 40_000)
                let usual = Double.random(in: 3e5...3e6, using: &random)
                for _ in 0..<count {
                    let spread = (0..<6).reduce(0.0) { sum, _ in
                        sum + Double.random(in: -0.8...0.8, using: &random)
                    }
                    totals.latency.record(nanoseconds: UInt64(usual * exp(spread)))
                }
                totals.microseconds = UInt64(count) * 1_000
                (totals.bytesIn, totals.bytesOut) = (UInt64(count) * 400, UInt64(count) * 4_000)
                if Bool.random(using: &random) {
                    totals.errors = ["CONFLICT": UInt64(count / 50), "NOT_FOUND": 3]
                    for user in 0..<(count / 100) {
                        totals.affected.record(UInt64(user) &* 0x9e37_79b9_7f4a_7c15)
                    }
                }
                bytes[step, default: 0] += totals.encoded.count + 14
            }
        }
        let year = TelemetryStep.allCases.reduce(0) { sum, step in
            let rows = Int(step.keptMilliseconds / step.milliseconds)
            return sum + rows * 60 * (bytes[step] ?? 0) / 40
        }
        print("a year of 60 series: \(year / 1_000_000) MB of rows, by step per row: ", bytes)
        #expect(year < 85_000_000)
        storage.close()
    }

    @Test("What a killed process has put away is there, whole minutes of it")
    func killed() throws {
        let child = fork(of: folder.file)
        #expect(child > 0)
        let storage = try folder.open()
        let rows = try storage.rows(
            question(.minute, Self.start..<(Self.start + Self.day))
        ).flatMap(\.rows)
        #expect(rows.count >= 3)
        // Each step has what the others have.
        for step in [TelemetryStep.quarterHour, .sixHours] {
            let sum = try storage.rows(question(step, Self.start..<(Self.start + Self.day)))
                .flatMap(\.rows).reduce(0) { $0 + $1.totals.requests }
            #expect(sum == UInt64(rows.count))
        }
    }

    /// Puts minutes away and is gone without closing: the file is as a process that is killed leaves it.
    private func fork(of file: String) -> Int {
        do {
            let storage = try SQLiteTelemetry(path: file)
            for minute in 0..<5 {
                try add(.of(1), at: Self.start + Int64(minute) * 60_000, to: storage)
            }
            // What is in the file and its log now, and nothing that a close would add.
            let copy = file + ".copy"
            for end in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: file + end, toPath: copy + end)
            }
            storage.close()
            for end in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: file + end)
            }
            for end in ["", "-wal"] {
                try FileManager.default.moveItem(atPath: copy + end, toPath: file + end)
            }
            return 1
        } catch {
            return 0
        }
    }
}
