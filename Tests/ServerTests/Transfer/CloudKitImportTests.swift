import CloudModel
import Cryptography
import Foundation
import Seeding
import Testing

@testable import Administration
@testable import Server

@Suite("Imports from CloudKit")
struct CloudKitImportTests {
    private let home: TransferHome

    init() throws { home = try TransferHome() }

    // MARK: - The other side

    /// As `cktool export-schema` writes it.
    private static let schema = """
        DEFINE SCHEMA
            RECORD TYPE Folder ("___recordID" REFERENCE QUERYABLE, title STRING);
            RECORD TYPE Note ("___recordID" REFERENCE QUERYABLE, title STRING, picture ASSET,
                folder REFERENCE, others LIST<REFERENCE>, pictures LIST<ASSET>);
            RECORD TYPE Users ("___recordID" REFERENCE, roles LIST<INT64>);
        """

    private static func asset(_ index: Int) -> [UInt8] { pattern(100 + index * 37, seed: 7) }

    private static func checksum(_ bytes: [UInt8]) -> String {
        Base64.encode([1] + SHA256.digest(bytes).prefix(20))
    }

    /// Notes, some with pictures, and the folders that they refer to.
    private func seeds(_ count: Int, zone: String, _ prefix: String) -> MemoryFiles {
        var lines: [String] = []
        var files: [String: [UInt8]] = [:]
        func picture(_ index: Int) -> String {
            let bytes = Self.asset(index)
            let sum = Self.checksum(bytes)
            files[sum.replacing("/", with: "_").replacing("+", with: "-")] = bytes
            return #"{"fileChecksum":"\#(sum)","size":\#(bytes.count)}"#
        }
        let zoneID = #""zoneID":{"zoneName":"\#(zone)"}"#
        for index in 0..<count {
            if index % 3 == 0 {
                lines.append(
                    #"{"recordName":"\#(prefix)\#(index)","recordType":"Folder",\#(zoneID),"#
                        + #""fields":{"title":{"value":"f \#(index) \#u{e9}"}}}"#)
                continue
            }
            var fields = #""title":{"value":"\#(index)"}"#
            let other = #"{"recordName":"\#(prefix)\#(index / 3 * 3)","action":"NONE"}"#
            fields += #","folder":{"value":\#(other),"type":"REFERENCE"}"#
            if index % 20 == 1 {
                fields += #","picture":{"value":\#(picture(index)),"type":"ASSETID"}"#
                fields += #","others":{"value":[\#(other)],"type":"REFERENCE_LIST"}"#
                fields +=
                    #","pictures":{"value":[\#(picture(1)),\#(picture(2))],"type":"ASSETID_LIST"}"#
            }
            lines.append(
                #"{"recordName":"\#(prefix)\#(index)","recordType":"Note",\#(zoneID),"#
                    + #""fields":{\#(fields)}}"#)
        }
        return MemoryFiles(Array(lines.joined(separator: "\n").utf8), beside: files)
    }

    /// The public database of `iCloud.a` as CloudKit's, and a key of it.
    private func publicSource(
        _ what: String
    ) throws -> (proxy: CloudKitProxy, source: CloudKitSource) {
        let key = P256PrivateKey()
        let added = try home.administrator.perform(
            AddServerKey(in: home.environment("iCloud.a"), publicKeyPEM: key.publicKeyPEM))
        let now = home.now
        let proxy = try CloudKitProxy(to: home.address, seededBy: what) { target, body in
            let date = Timestamp(now).text.prefix(19) + "Z"
            let text = "\(date):\(Base64.encode(SHA256.digest(body))):\(target)"
            return [
                ("X-Apple-CloudKit-Request-KeyID", added.keyID),
                ("X-Apple-CloudKit-Request-ISO8601Date", String(date)),
                (
                    "X-Apple-CloudKit-Request-SignatureV1",
                    Base64.encode(key.sign(Array(text.utf8)))
                ),
            ]
        }
        return (
            proxy,
            CloudKitSource(
                host: proxy.origin.text, container: "iCloud.a", environment: "development",
                credential: .serverKey(id: added.keyID, key))
        )
    }

    /// Ann's private database of `iCloud.a` as CloudKit's, and a session of hers.
    private func privateSource(
        _ what: String
    ) throws -> (proxy: CloudKitProxy, source: (_ token: String) -> CloudKitSource) {
        let environment = home.environment("iCloud.a")
        let real = try home.administrator.perform(
            CreateWebToken(in: environment, email: TransferHome.ann))
        let api = try home.administrator.perform(CreateAPIToken(in: environment))
        let proxy = try CloudKitProxy(to: home.address, token: real.token, seededBy: what)
        let host = proxy.origin.text
        return (
            proxy,
            {
                CloudKitSource(
                    host: host, container: "iCloud.a", environment: "development",
                    credential: .webToken(apiToken: api.token, webToken: $0))
            }
        )
    }

    private func importing(
        _ source: CloudKitSource, _ files: MemoryFiles, of email: String? = nil,
        into container: String = "iCloud.b",
        _ change: (inout ImportFromCloudKit.Options) -> Void = { _ in }
    ) throws -> ImportFromCloudKit.Report {
        var options = ImportFromCloudKit.Options(saving: ImportRecords.Options())
        options.schema = Array(Self.schema.utf8)
        options.pauseUnitMilliseconds = 1
        change(&options)
        return try home.administrator.perform(
            ImportFromCloudKit(
                from: source, TransferTarget(home.environment(container), of: email), options,
                by: files))
    }

    /// Runs an import again and again that ends anywhere, until it is whole.
    private func importingWithEnds(
        _ files: MemoryFiles, _ what: String, _ attempt: () throws -> ImportFromCloudKit.Report
    ) throws -> ImportFromCloudKit.Report {
        var random = SeededRandom(what)
        for count in 1... {
            files.end(after: count > 12 ? .max : 8 + random.below(220))
            do { return try attempt() } catch is MemoryFiles.Gone { continue }
        }
        throw MemoryFiles.Gone()
    }

    // MARK: - Tests

    @Test("A public database comes over whole, through throttling, cut answers and ends in between")
    func publicDatabase() throws {
        try home.importing(seeds(650, zone: "_defaultZone", "p"))
        let (proxy, source) = try publicSource("CloudKit, public")
        let files = MemoryFiles()
        let report = try importingWithEnds(files, "ends of imports, public") {
            try importing(source, files)
        }
        #expect(report.imported.failures == [])
        #expect(report.counts.map(\.type) == ["Folder", "Note"])
        #expect(report.counts.map(\.read) == [217, 433])
        #expect(report.counts.map(\.saved) == [217, 433])
        #expect(try home.contents(of: "iCloud.b") == home.contents(of: "iCloud.a"))
        #expect(proxy.limits.change { $0.overLimit } == 0)
        // Two types are tried, and read in two and three pages; refusals come on top of that.
        #expect(proxy.limits.change { $0.requests } >= 7)
    }

    @Test("All zones of a user come over with tokens that change, and no token is left behind")
    func privateDatabase() throws {
        for (zone, prefix) in [("Z", "z"), ("Other", "o"), ("_defaultZone", "d")] {
            try home.importing(seeds(230, zone: zone, prefix), of: TransferHome.ann)
        }
        let (proxy, source) = try privateSource("CloudKit, private")
        let files = MemoryFiles()
        var given = "first+token/=="
        var signIns = 0
        let report = try importingWithEnds(files, "ends of imports, private") {
            do {
                return try importing(source(given), files, of: TransferHome.bea)
            } catch let refusal as RecordsRefusal where refusal.description.contains("sign in") {
                // An answer that was cut took the token with it that it brought.
                given = proxy.limits.change { $0.tokens.last ?? "" }
                signIns += 1
                throw MemoryFiles.Gone()
            }
        }
        #expect(report.imported.failures == [])
        #expect(report.counts.map(\.saved) == report.counts.map(\.read))
        #expect(report.counts.map(\.read).reduce(0, +) == 690)
        #expect(try home.contents(of: "iCloud.b") == home.contents(of: "iCloud.a"))
        for name in ["", "cloudkit.progress.1", "cloudkit.progress.2", "import.progress"] {
            let text = String(decoding: files[name], as: UTF8.self)
            #expect(!text.contains("token+"), "\(name)")
            #expect(!text.contains("first+token"), "\(name)")
        }
        #expect(signIns < 20)
    }

    @Test("The newest token is kept, and an attempt that goes on uses it")
    func newestToken() throws {
        try home.importing(seeds(500, zone: "Z", "z"), of: TransferHome.ann)
        let (proxy, source) = try privateSource("CloudKit, tokens")
        proxy.limits.change { $0.troubles = 0 }
        let files = MemoryFiles()
        // The first page is there, and the token of the beginning is two answers old.
        files.end(after: 22)
        #expect(throws: MemoryFiles.Gone.self) {
            try importing(source("first+token/=="), files, of: TransferHome.bea)
        }
        #expect(proxy.limits.change { $0.made } >= 3)
        files.end(after: .max)
        let report = try importing(source("first+token/=="), files, of: TransferHome.bea)
        #expect(report.imported.isContinued && report.counts.map(\.saved) == [167, 333])
        #expect(throws: RecordsRefusal.self) {
            try importing(source("another"), MemoryFiles(), of: TransferHome.bea)
        }
    }

    @Test("Types that cannot be asked for are named before anything is read, or left out by choice")
    func unreadableTypes() throws {
        try home.importing(seeds(30, zone: "_defaultZone", "p"))
        let (proxy, source) = try publicSource("CloudKit, types without an index")
        proxy.limits.change {
            $0.unreadable = ["Note"]
            // An index that lags would answer for a type that is not there.
            $0.troubles = 0
        }
        let files = MemoryFiles()
        let plain = Self.schema + "\nRECORD TYPE Plain (\"___recordID\" REFERENCE, x INT64);"
        func attempt(skips: Bool) throws -> ImportFromCloudKit.Report {
            try importing(source, files) {
                $0.schema = Array(plain.utf8)
                $0.skipsUnreadable = skips
            }
        }
        let refusal = #expect(throws: RecordsRefusal.self) { try attempt(skips: false) }
        let text = refusal?.description ?? ""
        #expect(text.contains("Note (BAD_REQUEST: Field 'recordName' is not marked queryable)"))
        #expect(text.contains("Plain (NOT_FOUND: "))
        #expect(!text.contains("Folder") && files.main == [])
        let report = try attempt(skips: true)
        #expect(report.counts.map(\.type) == ["Folder"] && report.counts.map(\.saved) == [10])
        #expect(report.imported.notes.contains { $0.hasPrefix("not read: Note (") })
        #expect(throws: RecordsRefusal.self) {
            try importing(source, MemoryFiles()) { $0.schema = nil }
        }
    }

    @Test("A marker that is not known any more begins its type or zone anew, with nothing twice")
    func forgottenMarkers() throws {
        try home.importing(seeds(600, zone: "_defaultZone", "p"))
        let (proxy, source) = try publicSource("CloudKit, forgotten markers")
        proxy.limits.change { ($0.troubles, $0.forgotten) = (0, 2) }
        #expect(try importing(source, MemoryFiles()).imported.records == 600)
        try home.importing(seeds(600, zone: "Z", "z"), of: TransferHome.ann)
        let (others, session) = try privateSource("CloudKit, forgotten tokens")
        others.limits.change { ($0.troubles, $0.forgotten) = (0, 2) }
        let report = try importing(
            session("first+token/=="), MemoryFiles(), of: TransferHome.bea)
        #expect(report.imported.records == 600 && report.imported.failures == [])
        #expect(try home.contents(of: "iCloud.b") == home.contents(of: "iCloud.a"))
    }

    @Test("An asset whose address has run out is asked for once more; one that is gone is named")
    func assetsThatMove() throws {
        try home.importing(seeds(50, zone: "_defaultZone", "p"))
        let (proxy, source) = try publicSource("CloudKit, assets that move")
        proxy.limits.change { ($0.troubles, $0.assetsMove) = (0, true) }
        #expect(try importing(source, MemoryFiles()).imported.failures == [])
        #expect(try home.contents(of: "iCloud.b") == home.contents(of: "iCloud.a"))
        let without = try importing(source, MemoryFiles(), into: "iCloud.c") {
            $0.saving.withAssets = false
        }
        #expect(without.imported.failures == [] && without.imported.assets == 0)
    }

    @Test("What changes or goes while it is read is saved once, as it was last")
    func changesMeanwhile() throws {
        let text = """
            {"recordName":"a","recordType":"Note","fields":{"title":{"value":"old"}},"zoneID":{"zoneName":"Z"}}
            {"recordName":"b","recordType":"Note","fields":{},"zoneID":{"zoneName":"Z"}}
            {"recordName":"a","recordType":"Folder","fields":{},"zoneID":{"zoneName":"Y"}}
            {"kind":"gone","recordName":"b","zoneID":{"zoneName":"Z"}}
            {"kind":"gone","recordName":"never","zoneID":{"zoneName":"Z"}}
            {"recordName":"a","recordType":"Note","fields":{"title":{"value":"new"}},"zoneID":{"zoneName":"Z"}}

            """
        let files = MemoryFiles(Array(text.utf8))
        let repeated = try RepeatedLines(in: files)
        #expect(repeated.counts == ["Note": 1, "Folder": 1])
        let report = try home.importing(files, of: TransferHome.ann) {
            $0.outdated = repeated.outdated
        }
        #expect(report.failures == [] && report.types == ["Note": 1, "Folder": 1])
        let found = try home.contents(of: "iCloud.a")
        #expect(Set(found.keys) == ["false Z a", "false Y a"])
        #expect("\(found["false Z a"] ?? NSObject())".contains("new"))
    }

    @Test(
        "Only addresses that the server may reach are asked, and a file of something else is kept")
    func refusals() throws {
        let (proxy, source) = try publicSource("CloudKit, refusals")
        defer { withExtendedLifetime(proxy) {} }
        let closed = try TransferHome(allowing: [])
        let refusal = #expect(throws: RecordsRefusal.self) {
            var options = ImportFromCloudKit.Options(saving: ImportRecords.Options())
            options.schema = Array(Self.schema.utf8)
            _ = try closed.administrator.perform(
                ImportFromCloudKit(
                    from: source, TransferTarget(closed.environment("iCloud.b")), options,
                    by: MemoryFiles()))
        }
        #expect(refusal?.description.contains("outgoing.allowedNetworks") == true)
        #expect(throws: RecordsRefusal.self) {
            try importing(source, MemoryFiles(Array("{}\n".utf8)))
        }
        #expect(throws: RecordsRefusal.self) {
            try importing(source, MemoryFiles(), of: TransferHome.bea)
        }
        // A key that is none of that container.
        let strange = CloudKitSource(
            host: source.host, container: "iCloud.a", environment: "development",
            credential: .serverKey(id: "00", P256PrivateKey()))
        let unknown = #expect(throws: RecordsRefusal.self) { try importing(strange, MemoryFiles()) }
        let text = unknown?.description ?? ""
        #expect(text.contains("does not accept the key"), "\(text)")
    }
}
