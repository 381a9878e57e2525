import HTTP
import Network
import Seeding
import Testing

@Suite("The budget of request bodies")
struct BodyBudgetTests {
    @Test("One owner has an eighth, the doubted a sixteenth together, and all have the whole")
    func shares() {
        let budget = BodyBudget(bytesMax: 16_000)
        let one = BodyCharge(budget, for: .caller(1))
        #expect(one.grow(by: 2_000) && !one.grow(by: 1))
        let doubted = BodyCharge(budget, for: .doubted)
        #expect(doubted.grow(by: 1_000) && !doubted.grow(by: 1))
        let others = (2...7).map { BodyCharge(budget, for: .caller($0)) }
        #expect(others.allSatisfy { $0.grow(by: 2_000) })
        let last = BodyCharge(budget, for: .caller(8))
        #expect(!last.grow(by: 1_001) && last.grow(by: 1_000))
        #expect(budget.bytesUsed == 16_000)
        withExtendedLifetime((one, doubted, others, last)) {}
    }

    @Test("The only body of its owner may pass the share where it is asked for, and no other")
    func alone() {
        let budget = BodyBudget(bytesMax: 16_000)
        let first = BodyCharge(budget, for: .caller(1))
        #expect(first.grow(by: 2_000) && first.grow(by: 5_000, mayPassShare: true))
        let second = BodyCharge(budget, for: .caller(1))
        #expect(!second.grow(by: 1) && !second.grow(by: 1, mayPassShare: true))
        #expect(first.grow(by: 1, mayPassShare: true))
    }

    @Test("Random use comes to what is held, and to nothing in the end")
    func random() {
        var random = SeededRandom("budget")
        let budget = BodyBudget(bytesMax: 10_000, bodyBytesMax: 3_000)
        var charges: [BodyCharge] = []
        for _ in 0..<20_000 {
            let owner = BodyOwner.caller(Int.random(in: 0..<5, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: charges.append(BodyCharge(budget, for: owner))
            case 1 where !charges.isEmpty:
                charges.remove(at: Int.random(in: 0..<charges.count, using: &random))
            case 2: _ = charges.last?.move(to: owner)
            case 3: charges.first?.shrink(by: Int.random(in: 0..<900, using: &random))
            default:
                _ = charges.randomElement(using: &random)?.grow(
                    by: Int.random(in: 0..<900, using: &random),
                    mayPassShare: Bool.random(using: &random))
            }
            let held = charges.reduce(0) { $0 + $1.bytes }
            guard held == budget.bytesUsed, held <= 10_000 else {
                Issue.record("seed \(random.seed): \(held) held, \(budget.bytesUsed) counted")
                return
            }
        }
        charges = []
        #expect(budget.bytesUsed == 0 && budget.ownerCount == 0)
    }
}
