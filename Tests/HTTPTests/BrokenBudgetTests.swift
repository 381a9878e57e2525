import Testing

@testable import HTTP

/// Whether this build looks at assertions, as debug builds do.
private var looksAtAssertions: Bool {
    var looks = false
    assert(
        {
            looks = true
            return true
        }())
    return looks
}

@Suite("Budgets that do not come back to zero", .enabled(if: looksAtAssertions))
struct BrokenBudgetTests {
    @Test("A connection that is never given back ends a debug build with its server")
    func neverGivenBack() async {
        await #expect(processExitsWith: .failure) {
            _ = ConnectionBudget(limit: 1).take(nil, isExempt: false)
        }
    }

    @Test("A connection that is given back twice ends a debug build at once")
    func givenBackTwice() async {
        await #expect(processExitsWith: .failure) {
            let budget = ConnectionBudget(limit: 1)
            _ = budget.take(nil, isExempt: false)
            budget.give(nil)
            budget.give(nil)
        }
    }

    @Test("A budget whose bodies and connections have all ended is let go")
    func atRest() async {
        await #expect(processExitsWith: .success) {
            let connections = ConnectionBudget(limit: 1)
            _ = connections.take(nil, isExempt: false)
            connections.give(nil)
            let bodies = BodyBudget(bytesMax: 80)
            #expect(BodyCharge(bodies, for: .caller(1)).grow(by: 10))
        }
    }
}
