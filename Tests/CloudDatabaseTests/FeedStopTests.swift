import CloudDatabase
import CloudModel
import Cryptography
import JSON
import Storage
import Testing

@Suite("Pages of feeds that nobody waits for")
struct FeedStopTests {
    @Test(
        "A page that is told to stop ends before its end, for either reason",
        arguments: [StopSignal.Reason.abandoned, .makesRoom])
    func stops(reason: StopSignal.Reason) throws {
        let server = try QueryStore()
        let zone = ZoneID(name: ZoneName("z").required)
        try server.make(zone)
        // So few that SQLite's own looks at the signal come too late.
        let records: [(name: String, fields: QueryStore.Fields)] = (0..<150).map {
            (name: "r\($0)", fields: [:])
        }
        try server.save(records, in: zone)
        let key = HMACSHA256(key: try server.store.identity.tokenKey)
        for isStopped in [false, true] {
            let stop = StopSignal()
            var shown = 0
            let outcome = Result {
                try server.store.read(ReadLoad(until: stop)) { snapshot in
                    let feed = try FetchZoneChanges(
                        server.database(until: stop), key: key, snapshot: snapshot,
                        servesPublic: false)
                    if isStopped { stop.stop(reason) }
                    var writer = JSONWriter()
                    var budget = PageBudget(bytes: .max, rows: .max)
                    defer { shown = writer.bytes.count }
                    return try feed.append(
                        ZoneChangesRequest(zone: zone, resultsLimit: 150), to: &writer,
                        budget: &budget)
                }
            }
            if isStopped {
                #expect(throws: WorkStopped(reason)) { try outcome.get() }
            } else {
                #expect(try !outcome.get().moreComing)
                #expect(shown > 0)
            }
        }
    }
}
