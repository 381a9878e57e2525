import Dispatch
import Synchronization
import Testing

@Suite("Many clients at once")
struct ConcurrencyTests {
    private static let records = (0..<5).map { "r\($0)" }

    /// What the threads report.
    private final class Outcome: Sendable {
        let added = Mutex<[String: Int64]>([:])
        let failures = Mutex<[String]>([])
        let isDone = Atomic<Bool>(false)
    }

    @Test(
        "Counters that several clients raise by tag lose nothing, and followers see only rising ones",
        arguments: [false, true])
    func counters(isBesideWriter: Bool) throws {
        let server = try WireServer {
            if isBesideWriter { $0.writerMillisecondsMax = 0 }
        }
        let ida = try server.user()
        try ida.make("Shelf")
        for name in Self.records { try ida.save(name, #"{"n":{"value":0}}"#) }
        let outcome = Outcome()
        let group = DispatchGroup()
        for number in 0..<6 {
            var client = ida
            client.loop = number
            let own = client
            let writes = number < 4
            if writes { group.enter() }
            DispatchQueue(label: "client.\(number)").async {
                do {
                    if writes {
                        try Self.raise(own, outcome, rounds: 60)
                    } else {
                        try Self.follow(own, outcome)
                    }
                } catch { outcome.failures.withLock { $0.append("\(error)") } }
                if writes { group.leave() }
            }
        }
        #expect(group.wait(timeout: .now() + 600) == .success)
        outcome.isDone.store(true, ordering: .releasing)
        #expect(outcome.failures.withLock { $0 } == [])
        let added = outcome.added.withLock { $0 }
        for name in Self.records {
            #expect(try ida.record(name)["fields"]["n"]["value"].int == added[name, default: 0])
        }
        #expect(added.values.reduce(0, +) == 4 * 60)
        #expect(try server.problems() == [])
    }

    /// Raises one counter after the other, each by the tag that was read.
    private static func raise(_ client: WireClient, _ outcome: Outcome, rounds: Int) throws {
        for round in 0..<rounds {
            let name = records[(round + client.loop) % records.count]
            while true {
                let seen = try client.record(name)
                let next = (seen["fields"]["n"]["value"].int ?? 0) + 1
                let answer = try client.modify([
                    operation(
                        "update", name, fields: "{\"n\":{\"value\":\(next)}}", tag: seen.tag)
                ]).records[0]
                if answer.code == nil { break }
                guard answer.code == "CONFLICT" else { throw WireFailure(answer.raw) }
                // The server's copy is at least as new as what was read.
                let theirs = answer["serverRecord"]["fields"]["n"]["value"].int ?? 0
                guard theirs >= next else { throw WireFailure("\(theirs) after \(next)") }
            }
            outcome.added.withLock { $0[name, default: 0] += 1 }
        }
    }

    /// Follows the zone; what is shown never goes back.
    private static func follow(_ client: WireClient, _ outcome: Outcome) throws {
        var (token, seen) = (String?.none, [String: Int64]())
        while !outcome.isDone.load(ordering: .acquiring) {
            let page = try client.changes(after: token, limit: 3)
            for record in page["records"].elements {
                let value = record["fields"]["n"]["value"].int ?? 0
                let name = record.name ?? ""
                guard value >= seen[name, default: 0] else {
                    throw WireFailure("\(name) went back")
                }
                seen[name] = value
            }
            guard let next = page["syncToken"].string else { throw WireFailure(page.raw) }
            token = next
        }
    }
}
