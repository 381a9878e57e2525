import CloudModel
import Dispatch
import Platform
import RequestRecords

// Writes lines of requests of many users, and searches them by user:
// RequestLinesBenchmark FOLDER LINES USERS

/// A line as a phone causes it: a fetch, mostly of nothing new, a lookup or a save.
func entry(_ number: Int, of users: Int) -> RequestEntry {
    var state = UInt64(number) &* 0x9e37_79b9_7f4a_7c15
    func random(_ bound: Int) -> Int {
        state ^= state >> 29
        state &*= 0xbf58_476d_1ce4_e5b9
        return Int((state >> 33) % UInt64(bound))
    }
    let user = random(users)
    var entry = RequestEntry(time: 1_767_225_600_000 + Int64(number) / 8)
    entry.id = (0..<16).map { _ in UInt8(random(256)) }
    entry.user = "_0123456789abcdef01234567\(10_000_000 + user)"
    entry.device = "01234567-89AB-CDEF-0123-4567\(10_000_000 + user)"
    entry.session = "0123456789abcdef01234567\(10_000_000 + user)"
    entry.software = .init(kind: "apple", name: "Notes", version: "\(random(5)).0")
    entry.container = "iCloud.org.example.Notes"
    (entry.environment, entry.database, entry.status) = (.production, .private, 200)
    entry.operation = ["changes/zone", "records/lookup", "records/modify"][random(3)]
    let position = Int64(number) + 1_000_000
    entry.zones = [.init(name: "Notes", from: position, to: position + Int64(random(3)))]
    (entry.items, entry.records) = (1 + random(3), random(20))
    (entry.bytesIn, entry.bytesOut) = (100 + random(2_000), 200 + random(20_000))
    entry.microseconds.waiting = random(300)
    entry.microseconds.reading = random(900)
    entry.microseconds.sending = random(200)
    if entry.operation == "records/modify" {
        entry.microseconds.deciding = random(900)
        entry.microseconds.committing = random(9_000)
    }
    if random(50) == 0 {
        entry.failures = [.init(code: "CONFLICT", count: 1, records: [UInt32(random(1 << 30))])]
    }
    return entry
}

func milliseconds(_ work: () throws -> Void) rethrows -> Double {
    let start = DispatchTime.now().uptimeNanoseconds
    try work()
    return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e6
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let lines = Int(arguments[2]), let users = Int(arguments[3]) else {
    print("RequestLinesBenchmark FOLDER LINES USERS")
    exit(2)
}
let limits = RequestLimits(bytesMax: 1 << 40, daysMax: 3_650)
let ring = try RequestRing(arguments[1], limits)
if ring.byteCount == 0 {
    var writing = 0.0
    for start in stride(from: 0, to: lines, by: 2_048) {
        let batch = (start..<min(lines, start + 2_048)).map { entry($0, of: users) }
        writing += try milliseconds { try ring.append(batch, now: 1_767_225_600_000) }
    }
    print("written: \(Int(Double(lines) / writing * 1_000)) lines a second")
}
print("bytes a line: \(Double(ring.byteCount) / Double(lines))")
let opening = try milliseconds { _ = try RequestRing(arguments[1], limits) }
print("opened in \(opening) ms")
for round in 0..<5 {
    let user = "_0123456789abcdef01234567\(10_000_000 + round * users / 7)"
    for limit in [1_000, Int.max] {
        var count = 0
        let spent = milliseconds {
            ring.newest(RequestFilter(person: .init(users: [user]))) { _, _ in
                count += 1
                return count < limit
            }
        }
        print("found \(count) lines of one user in \(spent) ms")
    }
}
