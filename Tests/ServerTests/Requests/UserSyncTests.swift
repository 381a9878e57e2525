import Administration
import CloudModel
import Foundation
import RequestRecords
import Seeding
import Storage
import Testing

@testable import Server

@Suite("Why somebody's phone shows old data")
struct UserSyncTests {
    /// A home with Ann's zone, a record in it, and a phone that has all of it.
    private func home(
        _ environment: CloudModel.Environment = .development
    ) throws -> (SyncHome, token: String?) {
        let home = try SyncHome(environment)
        try home.makeZone("ann")
        if environment == .development { try home.save("ann", "a", kind: "create") }
        return (home, try home.fetch("ann", nil).token)
    }

    @Test("An app that does not keep its new token is named, and how often it asked")
    func staleToken() throws {
        let (home, token) = try home()
        try home.save("ann", "b", kind: "create", device: "another")
        for _ in 0..<4 { try home.fetch("ann", token) }
        try home.expect("ann", [.staleToken], "same old sync token", "4 times")
    }

    @Test("A record that fails again and again with an old tag is named")
    func endlessConflict() throws {
        let (home, _) = try home()
        let old = try home.save("ann", "b", kind: "create").tag
        let new = try home.save("ann", "b", tag: old, device: "another").tag
        #expect(new != old)
        for _ in 0..<5 { #expect(try home.save("ann", "b", tag: old).code == "CONFLICT") }
        try home.expect("ann", [.endlessConflict], "CONFLICT 5 times in turn", "merges")
        let device = try #require(try home.report("ann").devices.first { $0.id == "anns-phone" })
        #expect(device.conflicts.map(\.count) == [5])
    }

    @Test("A conflict goes on while other records are saved, and is over when its own record is")
    func conflictOfOneRecord() throws {
        let (home, _) = try home()
        let old = try home.save("ann", "b", kind: "create").tag
        let new = try home.save("ann", "b", tag: old, device: "another").tag
        for number in 0..<5 {
            #expect(try home.save("ann", "b", tag: old).code == "CONFLICT")
            #expect(try home.save("ann", "c\(number)", kind: "create").code == nil)
        }
        let device = try #require(try home.report("ann").devices.first { $0.id == "anns-phone" })
        #expect(device.conflicts.map(\.count) == [5])
        #expect(try home.report("ann").causes.map(\.kind).contains(.endlessConflict))
        #expect(try home.save("ann", "b", tag: new).code == nil)
        let later = try #require(try home.report("ann").devices.first { $0.id == "anns-phone" })
        #expect(later.conflicts.isEmpty)
    }

    @Test("A full quota is named, with what is used of it")
    func quota() throws {
        let (home, _) = try home()
        let operators = Administrator(.commandLine(userNumber: 1), on: home.folder)
        _ = try operators.perform(
            ChangeContainer("iCloud.a", settings: ["userQuotaBytes": "100"]))
        #expect(try home.save("ann", "b", kind: "create").code == "QUOTA_EXCEEDED")
        try home.expect("ann", [.quotaFull], "quota is full", "of 100 bytes", "Raise it")
    }

    @Test("A field that production's schema lacks is named, until it is deployed")
    func schema() throws {
        let (home, _) = try home(.production)
        #expect(try home.save("ann", "b", kind: "create").code == "BAD_REQUEST")
        try home.expect("ann", [.schemaMissing], "schema of production lacks", "schema deploy")
        #expect(
            try home.report("ann").devices.first?.errors.map(\.reason) == ["schemaLacksType"])
    }

    @Test("Pushes that fail are named, with how many wait since when")
    func lostPush() throws {
        let (home, _) = try home()
        let user = try #require(UserRecordName(try home.userRecordName("ann")))
        let answer = try home.ask(
            "ann", "private/subscriptions/modify",
            [
                "operations": [
                    [
                        "operationType": "create",
                        "subscription": [
                            "subscriptionID": "all", "subscriptionType": "database",
                        ],
                    ] as [String: Any]
                ]
            ])
        #expect(answer.status == 200, "\(answer)")
        let store = try home.folder.store(of: home.container, in: .development)
        try store.writeAndWait { transaction in
            let way = try transaction.register(
                NewDestination(kind: .apns, key: [1], user: user, device: "anns-phone"))
            _ = try transaction.enqueue(
                NewNotice(destination: way, identifier: "n", scope: .private, payload: [123, 125]),
                countedMax: 10)
            for _ in 0..<4 {
                try transaction.noteAttempt(
                    at: way, isFailure: true, next: transaction.now + 86_400_000)
            }
        }
        try home.expect("ann", [.lostPush], "4 attempts by apns failed in a row", "1 wait since")
        #expect(try home.report("ann").subscriptions.map(\.id) == ["all"])
    }

    @Test("A wrong clock is named where a signed date shows it, and nowhere else")
    func clockSkew() throws {
        let (home, _) = try home()
        let user = try home.userRecordName("ann")
        try home.askSigned("public/records/query", on: user, aheadSeconds: 7_200)
        try home.expect("ann", [.wrongClock], "120 minutes ahead", "NTP")
        var line = RequestEntry(time: home.folder.clock.now())
        (line.container, line.environment) = ("iCloud.a", .development)
        (line.status, line.code) = (401, "AUTHENTICATION_FAILED")
        line.operation = "records/query"
        line.reason = "signatureWrong"
        let other = try SyncHome()
        (line.user, line.device) = (try other.userRecordName("ann"), "signer")
        try #require(try other.folder.requests()).append([line], now: line.time)
        try other.expect("ann", [.credentialsRefused], "signatureWrong")
    }

    @Test("Somebody who was taken out of a share is told from one who may only read")
    func participants() throws {
        let (home, _) = try home()
        try home.shareToBob(permission: "READ_ONLY")
        let owner = try home.userRecordName("ann")
        #expect(try home.fetch("bob", nil, owner: owner).token != nil)
        #expect(
            try home.save("bob", "root", kind: "forceUpdate", owner: owner).code
                == "ACCESS_DENIED")
        try home.expect("bob", [.shareReadOnly], "may read", "not write")
        let answer = try home.ask(
            "ann", "private/records/modify",
            [
                "zoneID": ["zoneName": "z"],
                "operations": [
                    [
                        "operationType": "forceDelete", "record": ["recordName": "share"],
                    ] as [String: Any]
                ],
            ])
        #expect(!"\(answer)".contains("serverErrorCode"), "\(answer)")
        for _ in 0..<2 {
            #expect(try home.fetch("bob", nil, owner: owner).code == "ZONE_NOT_FOUND")
        }
        let report = try home.report("bob")
        #expect(report.causes.first?.kind == .shareLost, "\(report.firstLine)")
        #expect(report.shares.map(\.isLost) == [true])
    }

    @Test("An app that asks too much is named")
    func throttled() throws {
        let home = try SyncHome { $0.limits.userRequestsPerSecondMax = 1 }
        var throttled = 0
        for _ in 0..<80 {
            let answer = try home.ask("ann", "private/zones/list", [:])
            if answer.status == 429 { throttled += 1 }
        }
        #expect(throttled >= 20)
        try home.expect("ann", [.throttled], "asks too much", "20 requests")
    }

    @Test("A sign-in that has expired, or was ended, is named, by the device that shows it")
    func signedOut() throws {
        let (home, token) = try home()
        try home.signIn("ann", seconds: 3_600)
        try home.fetch("ann", token)
        home.advance(minutes: 120)
        #expect(try home.fetch("ann", token).code == "AUTHENTICATION_REQUIRED")
        try home.expect("ann", [.signInExpired], "sign-in has expired", "signs in again")
        try home.signIn("ann")
        try home.fetch("ann", token)
        try home.expect("ann", [])
        _ = try home.folder.webTokens.end(
            tokenID: nil, container: home.container, environment: .development,
            email: "ann@a.example", now: home.folder.clock.now())
        #expect(try home.fetch("ann", token).code == "AUTHENTICATION_REQUIRED")
        try home.expect("ann", [.signedOut], "signed out", "session was ended")
    }

    @Test("An API token that was revoked is named")
    func revokedToken() throws {
        let (home, token) = try home()
        try home.folder.apiTokens.revoke(name: home.apiTokenName)
        #expect(try home.fetch("ann", token).code == "AUTHENTICATION_FAILED")
        try home.expect("ann", [.apiTokenRevoked], "API token was revoked", "api-token create")
    }

    @Test("A sync token that has expired and is sent again is named; beginning anew ends it")
    func expiredToken() throws {
        let (home, token) = try home()
        #expect(try home.fetch("bob", token).code != nil)
        for _ in 0..<2 { try home.ask("ann", "private/changes/zone", Self.foreign) }
        try home.expect("ann", [.expiredToken], "expired or is of another place")
        for _ in 0..<3 { try home.fetch("ann", nil) }
        try home.expect("ann", [])
    }

    private static var foreign: [String: Any] {
        ["zones": [["zoneID": ["zoneName": "z"], "syncToken": "AAAA"] as [String: Any]]]
    }

    @Test("A device that is there after a change and does not fetch it is named")
    func notFetching() throws {
        let (home, _) = try home()
        try home.save("ann", "b", kind: "create", device: "another")
        home.advance(minutes: 60)
        try home.ask("ann", "private/zones/list", [:])
        let report = try home.report("ann")
        #expect(report.causes.map(\.kind) == [.notFetching], "\(report.firstLine)")
        #expect(report.causes.first?.devices.first?.contains("anns-phone") == true)
        let zone = try #require(
            report.devices.first { $0.id == "anns-phone" }?.zones.first { $0.name == "z" })
        #expect(zone.behind == 1 && zone.behindSince != nil)
    }

    @Test("Two troubles at once are both named in the first line")
    func two() throws {
        let (home, token) = try home()
        let old = try home.save("ann", "b", kind: "create").tag
        try home.save("ann", "b", tag: old, device: "another")
        for _ in 0..<3 {
            try home.save("ann", "b", tag: old)
            try home.fetch("ann", token)
        }
        try home.expect("ann", [.endlessConflict, .staleToken], "CONFLICT", "sync token")
        let operators = Administrator(.commandLine(userNumber: 1), on: home.folder)
        _ = try operators.perform(
            ChangeContainer("iCloud.a", settings: ["userQuotaBytes": "100"]))
        try home.save("bob", "x", kind: "create")
        #expect(try home.report("bob").causes.map(\.kind) != [.endlessConflict, .staleToken])
    }

    @Test("Fifty random histories of apps that do it right name no trouble")
    func healthy() throws {
        var random = SeededRandom("healthy histories")
        for _ in 0..<50 { try self.healthyHistory(&random) }
    }

    private struct Phone {
        let name: String
        var token: String?
        var tags: [String: String] = [:]
    }

    private func healthyHistory(_ random: inout SeededRandom) throws {
        let home = try SyncHome()
        try home.makeZone("ann")
        var phones = (0..<1 + random.below(3)).map { Phone(name: "phone-\($0)") }
        for _ in 0..<4 + random.below(12) {
            home.advance(minutes: random.below(300))
            let index = random.below(phones.count)
            var phone = phones[index]
            // An app that starts fetches first.
            phone.token = try home.fetch("ann", phone.token, device: phone.name).token
            for _ in 0..<random.below(5) {
                let name = "r\(random.below(4))"
                let known = phone.tags[name]
                let saved = try home.save(
                    "ann", name, tag: known, kind: known == nil ? "create" : "update",
                    device: phone.name)
                phone.tags[name] = saved.tag
                guard let code = saved.code else { continue }
                #expect(["CONFLICT", "EXISTS"].contains(code))
                if let tag = saved.tag {
                    phone.tags[name] =
                        try home.save("ann", name, tag: tag, device: phone.name).tag
                } else {
                    phone.tags[name] =
                        try home.save("ann", name, kind: "forceUpdate", device: phone.name).tag
                }
            }
            if random.happens(30) {
                try home.ask("ann", "private/zones/list", [:], device: phone.name)
            }
            if random.happens(60) {
                phone.token = try home.fetch("ann", phone.token, device: phone.name).token
            }
            phones[index] = phone
        }
        try home.expect("ann", [])
        #expect(try home.report("ann").firstLine.hasPrefix("No trouble found"))
    }
}
