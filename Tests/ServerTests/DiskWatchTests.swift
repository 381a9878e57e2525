import CloudModel
import Synchronization
import Testing

@testable import Server

/// What is said of a disk before it is full.
@Suite("Room on the disk")
struct DiskWatchTests {
    private static let gigabyte = 1_000_000_000
    private static let hour: Milliseconds = 3_600_000
    private static let floor = 300_000_000

    /// A disk and a time that the test sets.
    private final class World: Sendable {
        let free = Mutex(60 * DiskWatchTests.gigabyte)
        let now = Mutex<Milliseconds>(1_000_000)
    }

    private let world = World()
    private let sink = OperatingLogTests.Sink()

    private func room(_ free: Int, of whole: Int = 100 * DiskWatchTests.gigabyte) -> DiskRoom {
        DiskRoom(freeBytes: free, diskBytes: whole, floorBytes: Self.floor)
    }

    /// The messages of looks by the hour, each with so much free.
    private func messages(_ free: [Int]) -> [String] {
        let (world, whole, floor) = (world, 100 * Self.gigabyte, Self.floor)
        let clock = Clock { world.now.withLock { $0 } }
        let log = Log(format: .json, descriptor: sink.descriptor, clock: clock)
        let watch = DiskWatch(clock: clock, log: log) {
            DiskRoom(
                freeBytes: world.free.withLock { $0 }, diskBytes: whole, floorBytes: floor)
        }
        for bytes in free {
            world.free.withLock { $0 = bytes }
            watch.check()
            world.now.withLock { $0 += Self.hour }
        }
        log.flush(withinSeconds: 60)
        return sink.lines()
    }

    @Test("Less than a tenth is low, but for 50 GiB; what uploads are refused for is used up")
    func levels() {
        let gigabyte = Self.gigabyte
        #expect(room(11 * gigabyte).level == .enough)
        #expect(room(9 * gigabyte).level == .low)
        #expect(room(60 * gigabyte, of: 1_000 * gigabyte).level == .enough)
        #expect(room(50 * gigabyte, of: 1_000 * gigabyte).level == .low)
        #expect(room(500_000_000, of: 1 * gigabyte).level == .low)
        #expect(room(Self.floor).level == .used)
    }

    @Test("The log is told when it is low or used up, again after a day, and not at every look")
    func told() {
        let (low, used) = (9 * Self.gigabyte, 100_000_000)
        let lines = messages(
            [60 * Self.gigabyte] + Array(repeating: low, count: 24) + [low]
                + Array(repeating: used, count: 3))
        #expect(lines.filter { $0.contains("has little room left") }.count == 2, "\(lines)")
        #expect(lines.filter { $0.contains("is used up") }.count == 1, "\(lines)")
        #expect(lines.filter { $0.contains("\"freeBytes\":9000000000") }.count == 2, "\(lines)")
    }

    @Test("A disk that fills as it did for an hour is told of two days before it is full")
    func forecast() {
        let gigabyte = Self.gigabyte
        // 2 GB an hour, of 60.
        let lines = messages([60, 58, 56].map { $0 * gigabyte })
        #expect(lines.count == 1 && lines.first?.contains("\"hoursLeft\":28") == true, "\(lines)")
    }

    @Test("A disk that does not fill, or was not watched for an hour, has no forecast")
    func noForecast() {
        var forecast = DiskForecast()
        func left(_ free: Int, _ hours: Milliseconds) -> Int? {
            forecast.hoursLeft(
                freeBytes: free, floorBytes: Self.floor, at: hours * Self.hour)
        }
        #expect(left(Self.gigabyte, 1) == nil)
        forecast.note(freeBytes: 10 * Self.gigabyte, at: 0)
        #expect(left(9 * Self.gigabyte, 0) == nil)
        #expect(left(10 * Self.gigabyte, 5) == nil)
        #expect(left(11 * Self.gigabyte, 5) == nil)
        #expect(left(9 * Self.gigabyte + 300_000_000, 7) == 90)
        for hour in 1...40 {
            forecast.note(freeBytes: 8 * Self.gigabyte, at: Milliseconds(hour) * Self.hour)
        }
        #expect(left(8 * Self.gigabyte, 41) == nil)
        // A clock that was set back.
        forecast.note(freeBytes: 7 * Self.gigabyte, at: 0)
        #expect(left(6 * Self.gigabyte, 0) == nil)
    }
}
