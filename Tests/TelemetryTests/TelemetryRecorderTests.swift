import CloudModel
import Synchronization
import Telemetry
import Testing

@Suite("What is counted of requests")
struct TelemetryRecorderTests {
    private static let noon: Milliseconds = 1_800_014_400_000
    private let time = TestClock(noon)

    private func recorder(seriesMax: Int = 2_000) -> TelemetryRecorder {
        TelemetryRecorder(
            TelemetryBudget(seriesMax: seriesMax), hash: UserHash(key: 7), clock: time.clock)
    }

    private func request(
        _ operation: String = "records/lookup", container: String = "iCloud.a",
        software: UInt64 = 0, isKnown: Bool = true, user: String? = nil, error: String? = nil,
        loop: Int = 0
    ) -> MeasuredRequest {
        MeasuredRequest(
            container: container, environment: .production, database: .private,
            operation: operation, softwareHash: software, isKnown: isKnown,
            failure: error.map { MeasuredFailure(user: user, error: $0) }, bytesIn: 10,
            bytesOut: 100, nanoseconds: 2_000_000, loop: loop)
    }

    private func client(_ version: Int = 1) -> MeasuredClient {
        MeasuredClient(kind: "apple", version: "Notes \(version)")
    }

    @Test(
        "Requests of all loops count by container, operation and client, under the minute they came in"
    )
    func counted() throws {
        let recorder = recorder()
        for loop in 0..<5 { recorder.record(request(loop: loop)) { client() } }
        recorder.record(request("records/modify", container: "iCLOUD.A")) { client() }
        time.go(to: Self.noon + 61_000)
        let minute = recorder.take()
        #expect(minute.start == Self.noon)
        var name = SeriesName(
            .requests, container: "icloud.a", environment: "production", database: "private",
            operation: "records/lookup", client: "apple")
        let lookups = try #require(minute.series[name])
        #expect(lookups.requests == 5)
        #expect(lookups.bytesIn == 50 && lookups.bytesOut == 500)
        name.operation = "records/modify"
        #expect(minute.series[name]?.requests == 1)
        let versions = minute.series.filter { $0.key.kind == .versions }
        #expect(versions.map(\.key.version) == ["Notes 1"])
        #expect(versions.first?.value.requests == 6)
        #expect(recorder.take().series.isEmpty)
        #expect(recorder.take().start == Self.noon + 60_000)
    }

    @Test("Errors count by code, and who had them once, without their names")
    func errors() {
        let recorder = recorder()
        for number in 0..<40 {
            recorder.record(request(user: "_u\(number % 4)", error: "CONFLICT")) { client() }
        }
        var faulty = request(user: "_u1")
        faulty.failure = MeasuredFailure(user: "_u1", itemFaults: [("EXISTS", 3)])
        recorder.record(faulty) { client() }
        recorder.record(request(user: "_fine")) { client() }
        let minute = recorder.take()
        let totals = minute.series.first { $0.key.kind == .requests }?.value
        #expect(totals?.errors == ["CONFLICT": 40])
        #expect(totals?.itemFaults == ["EXISTS": 3])
        #expect(totals?.affected.count == 4)
        #expect(!"\(minute)".contains("_u1"))
    }

    @Test("Above the budget requests count as other, and none is lost")
    func folded() {
        let recorder = recorder(seriesMax: 100)
        for number in 0..<1_000 {
            recorder.record(request("o\(number)", loop: number % 4)) { client() }
        }
        let minute = recorder.take()
        let series = minute.series.filter { $0.key.kind == .requests }
        #expect(series.count == 101)
        let other = series.first { $0.key.operation == SeriesName.other }
        #expect(other?.value.requests == 900)
        #expect(series.values.reduce(0) { $0 + $1.requests } == 1_000)
    }

    @Test("2,000 series have room in an event loop's 8 MB, and those without room count as other")
    func memory() {
        func fill(_ recorder: TelemetryRecorder, doublings: Range<UInt64>) -> TelemetryMinute {
            for number in 0..<2_000 {
                for doubling in doublings {
                    var one = request("operation/\(number)", user: "_u\(number)", error: "CONFLICT")
                    one.nanoseconds = 1 << doubling
                    recorder.record(one) { client() }
                }
            }
            #expect(recorder.byteCount <= TelemetryBudget().bytesPerLoopMax + 65_536)
            return recorder.take()
        }
        let recorder = recorder()
        // From a millisecond to four seconds.
        let usual = fill(recorder, doublings: 20..<33).series.filter { $0.key.kind == .requests }
        #expect(usual.count == 2_000)
        #expect(usual.allSatisfy { $0.key.operation != SeriesName.other })
        // From under a microsecond to a quarter of an hour: twice the buckets.
        let wide = fill(recorder, doublings: 9..<40).series.filter { $0.key.kind == .requests }
        #expect(wide.values.reduce(0) { $0 + $1.requests } == 2_000 * 31)
        #expect(wide.keys.contains { $0.operation == SeriesName.other })
        #expect(recorder.byteCount == 0)
    }

    @Test("Of one client 50 versions count apart in a minute, and the rest as other")
    func versions() {
        let recorder = recorder()
        for number in 0..<500 {
            recorder.record(request(software: UInt64(number))) { client(number) }
        }
        let minute = recorder.take()
        let versions = minute.series.filter { $0.key.kind == .versions }
        #expect(versions.count == TelemetryBudget().versionsMax + 1)
        #expect(versions.first { $0.key.version == SeriesName.other }?.value.requests == 450)
        #expect(minute.series.count { $0.key.kind == .requests } == 1)
    }

    @Test("Containers that callers make up take no room from those that are there")
    func madeUp() {
        let recorder = recorder(seriesMax: 10)
        for number in 0..<1_000 {
            recorder.record(
                request(container: "x\(number)", isKnown: false, error: "NOT_FOUND")
            ) { client() }
        }
        recorder.record(request()) { client() }
        // What is there is known from then on, by its failures too.
        recorder.record(request(isKnown: false, error: "AUTHENTICATION_FAILED")) { client() }
        let minute = recorder.take()
        let named = minute.series.filter {
            $0.key.container == "icloud.a" && $0.key.kind == .requests
        }
        #expect(named.count == 1)
        #expect(named.first?.value.requests == 2)
        #expect(minute.series.count { $0.key.kind == .requests } == 2)
    }

    @Test("Notices count by container and carrier")
    func notices() {
        let recorder = recorder()
        recorder.recordNotices(of: "icloud.a", in: .production, by: "apns", sent: 2, failed: 0)
        recorder.recordNotices(of: "icloud.a", in: .production, by: "apns", sent: 0, failed: 1)
        let minute = recorder.take()
        #expect(minute.series.count == 1)
        #expect(minute.series.first?.value.noticesSent == 2)
        #expect(minute.series.first?.value.noticesFailed == 1)
    }
}
