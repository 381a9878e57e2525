import CloudModel
import Testing

@testable import Administration
@testable import Server

/// How often an import asks the catalog and its store, which an engine behind a network answers in a round trip each.
@Suite("Questions that imports ask")
struct ImportQuestionTests {
    private static let few = 4
    private static let many = 160

    private static func record(
        _ name: String, zone: String, owner: String? = nil, fields: String = "{}"
    ) -> String {
        let owner = owner.map { #","ownerRecordName":"\#($0)""# } ?? ""
        return #"{"recordName":"\#(name)","recordType":"Bed","#
            + #""zoneID":{"zoneName":"\#(zone)"\#(owner)},"fields":\#(fields)}"#
    }

    private static func share(of root: String, with email: String) -> String {
        #"{"kind":"share","rootRecordName":"\#(root)","record":{"recordName":"share-\#(root)","#
            + #""recordType":"cloudkit.share","zoneID":{"zoneName":"Z"},"fields":{},"#
            + #""publicPermission":"NONE","participants":[{"type":"USER","permission":"READ_ONLY","#
            + #""acceptanceStatus":"ACCEPTED","userIdentity":{"lookupInfo":{"emailAddress":"\#(email)"}}}]}}"#
    }

    private func shares(_ count: Int) -> [String] {
        (0..<count).map { Self.record("r\($0)", zone: "Z") }
            + (0..<count).map { Self.share(of: "r\($0)", with: TransferHome.bea) }
    }

    private func files(_ lines: [String]) -> MemoryFiles {
        MemoryFiles(Array(lines.joined(separator: "\n").utf8))
    }

    /// What an import asks of the catalog, and how often it goes to the store.
    private func asked(
        _ lines: [String], of email: String? = nil, in home: TransferHome
    ) throws -> (statements: Int, visits: Int) {
        let data = try home.countedData()
        let report = try ImportRecords(
            TransferTarget(home.environment("iCloud.a"), of: email), ImportRecords.Options(),
            from: files(lines)
        ).run(in: data, by: .commandLine(userNumber: 1))
        #expect(report.failures == [] && report.notes == [])
        return (data.statementCount, data.visitCount)
    }

    @Test("Shares and those who had accepted them are asked for and made together")
    func asFewForShares() throws {
        let costs = try [Self.few, Self.many].map { count in
            let home = try TransferHome()
            let cost = try asked(shares(count), of: TransferHome.ann, in: home)
            let statuses = try home.contents(of: "iCloud.a").values.count {
                "\($0)".contains("ACCEPTED \(TransferHome.bea)")
            }
            #expect(statuses == count)
            return cost
        }
        #expect(costs[0].statements == costs[1].statements, "\(costs)")
        // Somebody accepts some shares in each write.
        #expect(costs[1].visits <= costs[0].visits + Self.many / 16, "\(costs)")
    }

    @Test("Owners are looked for together, by their addresses and by their names here")
    func asFewForOwners() throws {
        let costs = try [Self.few, Self.many].map { count in
            let home = try TransferHome()
            let emails = (0..<count).map { "p\($0)@a.example" }
            for email in emails { _ = try home.administrator.perform(CreateAccount(email: email)) }
            let owners = (0..<count).map { number in
                let digits = String(number, radix: 16)
                return "_" + String(repeating: "0", count: 32 - digits.count) + digits
            }
            let lines = zip(owners, emails).flatMap { owner, email in
                [
                    #"{"kind":"zone","zoneID":{"zoneName":"Z","ownerRecordName":"\#(owner)"},"#
                        + #""emailAddress":"\#(email)"}"#,
                    Self.record("r", zone: "Z", owner: owner),
                ]
            }
            let byAddress = try asked(lines, in: home)
            let names = try home.recordNames(of: emails)
            let byName = try asked(
                names.map { Self.record("s", zone: "Z", owner: $0) }, in: home)
            return (byAddress, byName)
        }
        #expect(costs[0].0.statements == costs[1].0.statements, "\(costs)")
        #expect(costs[0].1.statements == costs[1].1.statements, "\(costs)")
        // A batch for each owner, whose zone is there, and none but that.
        #expect(costs[1].1.visits - costs[0].1.visits <= Self.many - Self.few, "\(costs)")
    }

    @Test("A share that cannot be made keeps none of the others from being made")
    func oneFails() throws {
        let home = try TransferHome()
        var lines = shares(20)
        lines.insert(Self.share(of: "gone", with: TransferHome.bea), at: 27)
        lines.insert(Self.share(of: "r3", with: TransferHome.bea), at: 35)
        let report = try home.importing(files(lines), of: TransferHome.ann)
        #expect(report.shares == 20)
        #expect(report.failures.map(\.recordName) == ["share-gone", "share-r3"])
    }

    @Test("Shares that an import had made before it stopped are no failures when it goes on")
    func goesOn() throws {
        let home = try TransferHome()
        let files = files(shares(210) + [Self.share(of: "gone", with: TransferHome.bea)])
        #expect(throws: ImportStopped.self) {
            try home.importing(files, of: TransferHome.ann) { $0.stops = true }
        }
        let report = try home.importing(files, of: TransferHome.ann)
        #expect(report.isContinued)
        #expect(report.shares == 210)
        #expect(report.failures.map(\.recordName) == ["share-gone"])
    }
}
