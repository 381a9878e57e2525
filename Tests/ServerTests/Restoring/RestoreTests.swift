import ChildProcesses
import Foundation
import S3StandIn
import Testing

@testable import Server

@Suite("Data out of a backup, beside what is there")
struct RestoreTests {
    private static let ann = RestoreHome.ann
    private static let zone = #""zoneID":{"zoneName":"Notes"}"#

    /// A folder with two notes, of which one has a picture, and a share of the folder with Bea.
    private static let notes = #"""
        {"recordName":"folder","recordType":"Folder","ZONE","fields":{"title":{"value":"All"}}}
        {"recordName":"one","recordType":"Note","ZONE","parent":{"recordName":"folder"},"fields":{"text":{"value":"first"},"picture":{"value":{"fileChecksum":"CHECKSUM","size":22},"type":"ASSETID"}}}
        {"recordName":"two","recordType":"Note","ZONE","parent":{"recordName":"folder"},"fields":{"text":{"value":"second"},"after":{"value":{"recordName":"one","action":"VALIDATE"},"type":"REFERENCE"}}}
        {"recordName":"three","recordType":"Note","ZONE","fields":{"text":{"value":"third"}}}

        """#.replacing("\"ZONE\"", with: zone)
        .replacing("CHECKSUM", with: RestoreHome.checksum)

    private static let share = #"""
        {"kind":"share","rootRecordName":"folder","record":{"recordName":"share","recordType":"cloudkit.share","ZONE","fields":{"cloudkit.title":{"value":"T"}},"publicPermission":"NONE","participants":[{"type":"USER","permission":"READ_WRITE","acceptanceStatus":"ACCEPTED","userIdentity":{"lookupInfo":{"emailAddress":"bea@a.example"}}}]}}

        """#.replacing("\"ZONE\"", with: zone)

    private static func note(_ name: String, _ text: String) -> String {
        #"{"recordName":"\#(name)","recordType":"Note",\#(zone),"fields":{"text":{"value":"\#(text)"}}}"#
            + "\n"
    }

    private static func records(_ names: [String], _ more: [String]) -> [String] {
        ["record", "restore"] + RestoreHome.location + ["private"] + names
            + ["--zone", "Notes", "--user", ann] + more
    }

    @Test("Records are shown first, then come back, and devices get them by their feeds")
    func records() throws {
        let home = try RestoreHome()
        try home.importing(Self.notes, of: Self.ann)
        let before = try home.contents(of: Self.ann)
        let backup = try home.backup()
        try home.importing(Self.note("three", "spoilt"), of: Self.ann, update: true)
        try home.delete(["two", "one"], zone: "Notes", of: Self.ann)
        try home.importing(Self.note("newer", "since"), of: Self.ann)
        let spoilt = try home.contents(of: Self.ann)
        let token = try home.changes("Notes").token

        let asked = Self.records(["one", "two", "three"], ["--from", backup])
        let shown = try home.run(asked)
        #expect(shown.status == 1 && shown.error.contains("--yes"), "\(shown)")
        #expect(shown.output.contains("+ iCloud.a development Notes Note two"), "\(shown)")
        #expect(shown.output.contains("spoilt") && shown.output.contains("third"), "\(shown)")
        #expect(shown.output.contains("2 would come back, 1 would get"), "\(shown)")
        #expect(try home.contents(of: Self.ann) == spoilt)
        #expect(try home.changes("Notes", after: token).names == [])

        let done = try home.done(asked + ["--yes"])
        #expect(done["made"] as? Int == 2 && done["changed"] as? Int == 1, "\(done)")
        #expect(done["failed"] as? Int == 0 && done["done"] as? Bool == true, "\(done)")
        var after = try home.contents(of: Self.ann)
        #expect(after.removeValue(forKey: "Notes/newer") != nil)
        #expect(after == before)
        #expect(try home.changes("Notes", after: token).names == ["one", "three", "two"])

        let again = try home.done(asked + ["--yes"])
        #expect(again["same"] as? Int == 3 && again["made"] as? Int == 0, "\(again)")
        let none = try home.run(Self.records(["none"], ["--from", backup, "--yes"]))
        #expect(none.status == 1 && none.output.contains("no record 'none'"), "\(none)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: home.server.data)
                .filter { $0.hasPrefix("reading-") } == [])
    }

    @Test("A zone comes back with parents and assets, its share only when that is wanted")
    func zone() throws {
        let home = try RestoreHome()
        try home.importing(Self.notes + Self.share, of: Self.ann)
        let before = try home.contents(of: Self.ann)
        let backup = try home.backup()
        try home.delete(["share"], zone: "Notes", of: Self.ann)
        try home.delete(["two", "one", "folder", "three"], zone: "Notes", of: Self.ann)
        try home.importing(Self.note("newer", "since"), of: Self.ann)

        let restore =
            ["zone", "restore"] + RestoreHome.location
            + ["Notes", "--user", Self.ann, "--from", backup, "--yes"]
        let first = try home.done(restore)
        #expect(first["made"] as? Int == 4 && first["newer"] as? Int == 1, "\(first)")
        #expect(first["sharesLeft"] as? Int == 1 && first["shares"] as? Int == 0, "\(first)")
        var after = try home.contents(of: Self.ann)
        #expect(after.removeValue(forKey: "Notes/newer") != nil)
        #expect(after == before)
        let shared = try home.done(restore + ["--shares"])
        #expect(shared["shares"] as? Int == 1 && shared["made"] as? Int == 0, "\(shared)")
        let back = try home.done(
            ["record", "get"] + RestoreHome.location
                + ["private", "share", "--zone", "Notes", "--user", Self.ann])
        #expect("\(back)".contains("bea@a.example") && "\(back)".contains("ACCEPTED"), "\(back)")
        let standing = try home.done(restore + ["--shares"])
        #expect(standing["shares"] as? Int == 0 && standing["same"] as? Int == 4, "\(standing)")
        #expect(try home.run(["check"]).status == 0)
    }

    @Test("A record that refers to what is gone is named, and nothing half comes back")
    func references() throws {
        let home = try RestoreHome()
        try home.importing(Self.notes, of: Self.ann)
        let backup = try home.backup()
        try home.delete(["two", "one"], zone: "Notes", of: Self.ann)
        let alone = try home.run(Self.records(["two"], ["--from", backup, "--yes"]))
        #expect(
            alone.status == 1 && alone.output.contains("VALIDATING_REFERENCE_ERROR"), "\(alone)")
        #expect(try home.contents(of: Self.ann)["Notes/two"] == nil)
        try home.done(Self.records(["two", "one"], ["--from", backup, "--yes"]))
        #expect(try home.contents(of: Self.ann)["Notes/two"] != nil)
    }

    @Test("All private zones of a user come back, and nobody else's")
    func user() throws {
        let home = try RestoreHome()
        try home.importing(Self.notes, of: Self.ann)
        let other = #"{"recordName":"x","recordType":"Note","fields":{"text":{"value":"x"}}}"#
        try home.importing(other, of: Self.ann)
        try home.importing(other, of: RestoreHome.bea)
        try home.importing(other)
        let before = try home.contents(of: Self.ann)
        let backup = try home.backup()
        try home.delete(["two", "three"], zone: "Notes", of: Self.ann)
        for email in [Self.ann, RestoreHome.bea] {
            try home.delete(["x"], zone: "_defaultZone", of: email)
        }
        let done = try home.done(["user", "restore", Self.ann, "--from", backup, "--yes"])
        #expect(done["made"] as? Int == 3 && done["failed"] as? Int == 0, "\(done)")
        #expect(try home.contents(of: Self.ann) == before)
        #expect(try home.contents(of: RestoreHome.bea).filter { $0.key.hasSuffix("/x") } == [:])
    }

    @Test("Who was erased is refused, also under an account that is made anew")
    func erased() throws {
        let home = try RestoreHome()
        try home.importing(Self.notes, of: Self.ann)
        let backup = try home.backup()
        try home.done(["user", "erase", Self.ann, "--yes"])
        let restore = ["user", "restore", Self.ann, "--from", backup, "--yes"]
        let refused = try home.run(restore)
        #expect(refused.status == 1 && refused.error.contains("was erased at"), "\(refused)")
        try home.done(["user", "create", Self.ann])
        let anew = try home.run(restore)
        #expect(anew.status == 1 && anew.error.contains("was erased at"), "\(anew)")
        let zone = try home.run(Self.records(["one"], ["--from", backup, "--yes"]))
        #expect(zone.status == 1 && zone.error.contains("was erased at"), "\(zone)")
        #expect(try home.contents(of: Self.ann) == [:])
        let unknown = try home.run(
            ["user", "restore", "nobody@a.example", "--from", backup, "--yes"])
        #expect(unknown.status == 1 && !unknown.error.contains("erased"), "\(unknown)")
    }

    @Test("Backups that the server makes by itself are read where they lie")
    func ownBackups() throws {
        let backups = try TemporaryFolder()
        let home = try RestoreHome()
        try home.importing(Self.notes, of: Self.ann)
        // The first one is made at the start.
        try home.killAndStart(SIGTERM, ["LENTICULAR_BACKUPS_TO": backups.path("own")])
        #expect(home.server.waitForLine { $0.contains("backup made") } != nil)
        try home.delete(["three"], zone: "Notes", of: Self.ann)
        let done = try home.done(Self.records(["three"], ["--yes"]))
        #expect(done["made"] as? Int == 1, "\(done)")
        let early = try home.run(
            Self.records(["three"], ["--yes", "--at", "2001-01-01T00:00:00Z"]))
        #expect(early.status == 1 && early.error.contains("no backup from then"), "\(early)")
    }

    @Test("A backup in a bucket is read where it lies, files of assets too")
    func bucket() throws {
        let store = try S3StandInServer()
        let keys = try TemporaryFolder()
        let secret = String(decoding: S3StandInServer.secret, as: UTF8.self)
        try Data("\(S3StandInServer.accessKeyID)\n\(secret)\n".utf8)
            .write(to: URL(fileURLWithPath: keys.path("keys")))
        let home = try RestoreHome()
        try home.importing(Self.notes, of: Self.ann)
        let before = try home.contents(of: Self.ann)
        try home.killAndStart(
            SIGTERM,
            [
                "LENTICULAR_BACKUPS_TO": "s3://\(S3StandInServer.bucket)/undo",
                "LENTICULAR_S3_ENDPOINT": store.origin.text,
                "LENTICULAR_S3_REGION": S3StandInServer.region,
                "LENTICULAR_S3_CREDENTIALS_FILE": keys.path("keys"),
            ])
        #expect(home.server.waitForLine { $0.contains("backup made") } != nil)
        try home.delete(["two", "one"], zone: "Notes", of: Self.ann)
        let shown = try home.run(Self.records(["one", "two"], []))
        #expect(shown.status == 1 && shown.output.contains("2 would come back"), "\(shown)")
        let done = try home.done(Self.records(["one", "two"], ["--yes"]))
        #expect(done["made"] as? Int == 2 && done["failed"] as? Int == 0, "\(done)")
        #expect(try home.contents(of: Self.ann) == before)
    }

    @Test("A backup that the disk has no room for is refused before anything of it is written")
    func room() throws {
        let home = try RestoreHome()
        try home.importing(Self.notes, of: Self.ann)
        let backup = try home.backup()
        // More than any disk has is to stay free.
        try home.killAndStart(SIGTERM, ["LENTICULAR_ASSETS_FREE_BYTES_MIN": "1125899906842624"])
        let refused = try home.run(Self.records(["one"], ["--from", backup, "--yes"]))
        #expect(refused.status == 1, "\(refused)")
        let words = try #require(
            refused.error.firstMatch(
                of: #/takes (\d+) bytes below the data folder .* has 0 bytes for it/#),
            "\(refused)")
        #expect(try #require(Int(words.1)) > RestoreHome.asset.count)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: home.server.data)
                .filter { $0.hasPrefix("reading-") } == [])
    }

    @Test("The restore of a server that is killed goes on, with nothing twice and nothing lost")
    func killed() throws {
        let home = try RestoreHome()
        let lines = (0..<6_000).map { Self.note("n\($0)", "text \($0)") }.joined()
        try home.importing(lines, of: Self.ann)
        let before = try home.contents(of: Self.ann)
        let backup = try home.backup()
        for start in stride(from: 0, to: 6_000, by: 2_000) {
            try home.delete((start..<(start + 2_000)).map { "n\($0)" }, zone: "Notes", of: Self.ann)
        }
        let restore = ["user", "restore", Self.ann, "--from", backup, "--yes"]
        let child = ChildProcess()
        child.executableURL = Program.url
        child.arguments = restore + ["--data", home.server.data]
        child.environment = Program.cleanEnvironment
        child.standardOutput = Pipe()
        child.standardError = Pipe()
        try child.run()
        // Killed once the first records are back, or at the end where that came first.
        let list = ["record", "list"] + RestoreHome.location + ["private", "--zone", "Notes"]
        while child.isRunning {
            let records = try home.done(list + ["--user", Self.ann])["records"] as? [Any]
            if records?.isEmpty == false { break }
        }
        try home.killAndStart()
        child.waitUntilExit()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: home.server.data)
                .filter { $0.hasPrefix("reading-") } == [])
        let done = try home.done(restore)
        #expect(done["failed"] as? Int == 0, "\(done["made"] ?? "") \(done["same"] ?? "")")
        #expect(try home.contents(of: Self.ann) == before)
        #expect(try home.run(["check"]).status == 0)
    }
}
