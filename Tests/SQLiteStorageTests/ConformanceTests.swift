import StorageConformance
import Testing

@Suite("SQLite keeps what every engine promises")
struct ConformanceTests {
    @Test("A promise", arguments: StoragePromise.all)
    func keeps(_ promise: StoragePromise) throws { try promise.check(.sqlite) }

    @Test(
        "A promise about names, where the hashes of names meet",
        arguments: StoragePromise.names + StoragePromise.records + StoragePromise.currentRecords
            + StoragePromise.collection)
    func keepsWithMeetingHashes(_ promise: StoragePromise) throws {
        try promise.check(.sqliteWithMeetingHashes)
    }

    @Test("No promise is there twice")
    func once() {
        let all = StoragePromise.all.map(\.description)
        #expect(all.count > 50 && Set(all).count == all.count)
    }
}
