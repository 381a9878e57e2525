import Calendar
import Foundation
import Seeding
import Testing

/// Moments as days and times.
@Suite("The calendar")
struct CivilTimeTests {
    private static let calendar: Foundation.Calendar = {
        var calendar = Foundation.Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    @Test("Moments since 1600 are the days and times that the system says")
    func moments() throws {
        var random = SeededRandom("calendar")
        for _ in 0..<2_000 {
            let seconds = Int64.random(in: -11_676_096_000...253_402_300_799, using: &random)
            let parts = Self.calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second, .weekday],
                from: Date(timeIntervalSince1970: Double(seconds)))
            let time = CivilTime(seconds: seconds)
            #expect(time.year == Int64(try #require(parts.year)))
            #expect(time.month == Int64(try #require(parts.month)))
            #expect(time.day == Int64(try #require(parts.day)))
            #expect(time.hour == Int64(try #require(parts.hour)))
            #expect(time.minute == Int64(try #require(parts.minute)))
            #expect(time.second == Int64(try #require(parts.second)))
            let names = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
            #expect(time.dayName == names[try #require(parts.weekday) - 1])
            let ofDay = time.hour * 3_600 + time.minute * 60 + time.second
            let day = CivilTime.seconds(year: time.year, month: time.month, day: time.day)
            #expect(day == seconds - ofDay)
        }
    }

    @Test("A day that there is not has no moment")
    func absent() {
        #expect(CivilTime.seconds(year: 1970, month: 1, day: 1) == 0)
        #expect(CivilTime.seconds(year: 2000, month: 2, day: 29) == 951_782_400)
        #expect(CivilTime.seconds(year: 0, month: 1, day: 1) == -62_167_219_200)
        for (year, month, day) in [
            (1900, 2, 29), (2023, 2, 29), (2024, 2, 30), (2024, 4, 31), (2024, 13, 1),
            (2024, 0, 1), (2024, 1, 0), (2024, 1, 32), (10_000, 1, 1), (-1, 1, 1),
        ] {
            let (year, month, day) = (Int64(year), Int64(month), Int64(day))
            #expect(CivilTime.seconds(year: year, month: month, day: day) == nil)
        }
    }

    @Test("Dates and times are written in as many digits as they always have")
    func texts() {
        let time = CivilTime(seconds: -62_135_596_800 + 3_661)
        #expect(time.date() == "0001-01-01" && time.time() == "01:01:01")
        #expect(time.date(between: "") == "00010101" && time.time(between: "") == "010101")
        #expect(CivilTime(seconds: 0).monthName == "Jan" && CivilTime(seconds: -1).dayName == "Wed")
    }
}
