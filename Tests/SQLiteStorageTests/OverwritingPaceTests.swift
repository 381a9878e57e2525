import Testing

@testable import SQLiteStorage

@Suite("The pace of overwriting")
struct OverwritingPaceTests {
    @Test("A step takes a millisecond beside other writes, and ten alone, whatever it meets")
    func bounded() {
        var pace = OverwritingPace(first: 8, most: 1_000)
        // A thing takes 0.1 ms.
        func took() -> UInt64 { UInt64(pace.amount) * 100_000 }
        for _ in 0..<10 { pace.took(nanoseconds: took(), isAlone: false) }
        #expect(pace.amount == 10)
        for _ in 0..<10 { pace.took(nanoseconds: took(), isAlone: true) }
        #expect(pace.amount == 100)
        // Grows by no more than double, since a step may have met little to do.
        pace.took(nanoseconds: 1, isAlone: true)
        #expect(pace.amount == 200)
        for _ in 0..<10 { pace.took(nanoseconds: 1, isAlone: true) }
        #expect(pace.amount == 1_000)
        pace.took(nanoseconds: 60_000_000_000, isAlone: false)
        #expect(pace.amount == 1)
    }
}
