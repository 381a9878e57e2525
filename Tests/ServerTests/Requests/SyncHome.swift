import Administration
import CloudModel
import Configuration
import Cryptography
import Foundation
import RequestRecords
import Storage
import Testing

@testable import Control
@testable import Server

/// Ann and Bob, each with a phone, on a server in this process; what `user sync` says of them.
final class SyncHome {
    let temporary: TemporaryFolder
    let server: FolderServer
    let container: ContainerID
    let environment: CloudModel.Environment
    let apiToken: String
    let apiTokenName: String
    private var webTokens: [String: String] = [:]
    private var sent = 0

    init(
        _ environment: CloudModel.Environment = .development,
        configure: (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        temporary = try TemporaryFolder()
        self.environment = environment
        server = try FolderServer(data: temporary.path("data"), configure: configure)
        let folder = server.folder
        container = try folder.containers.create("iCloud.a", now: 1).id
        let api = try folder.apiTokens.create(
            container: container, environment: environment, name: "app", now: 1)
        (apiToken, apiTokenName) = (api.token, "app")
        for who in ["ann", "bob"] {
            _ = try folder.users.create(email: "\(who)@a.example", now: 1)
            try signIn(who)
        }
    }

    deinit { server.stop() }

    var folder: DataFolder { server.folder }

    func signIn(_ who: String, seconds: Int = 31_536_000) throws {
        webTokens[who] =
            try folder.webTokens.create(
                container: container, environment: environment, email: "\(who)@a.example",
                seconds: seconds, now: folder.clock.now()
            ).token
    }

    func advance(minutes: Int) {
        server.time.now.withLock { $0 += Milliseconds(minutes) * 60_000 }
    }

    /// Sends a request of somebody's device.
    @discardableResult
    func ask(
        _ who: String, _ path: String, _ body: [String: Any], device: String? = nil
    ) throws -> (status: Int, answer: [String: Any]) {
        let query =
            "?ckAPIToken=\(apiToken)&ckWebAuthToken=\(webTokens[who] ?? "")"
            + "&clientId=\(device ?? "\(who)s-phone")"
        let answer = try server.ask(
            "/database/1/iCloud.a/\(environment.rawValue)/\(path)\(query)", body)
        sent += 1
        try waitForLines()
        return answer
    }

    /// Sends a request that a new server key signs, by a clock that is so far ahead.
    func askSigned(_ path: String, on behalf: String, aheadSeconds: Int) throws {
        let key = P256PrivateKey()
        let now = folder.clock.now()
        let keyID = try folder.serverKeys.add(
            container: container, environment: environment, publicKeyPEM: key.publicKeyPEM,
            scope: .container, now: now
        ).keyID
        let moment = Date(timeIntervalSince1970: Double(now / 1_000) + Double(aheadSeconds))
        let date = ISO8601DateFormatter().string(from: moment)
        let target = "/database/1/iCloud.a/\(environment.rawValue)/\(path)"
        let digest = Base64.encode(SHA256.digest(Array("{}".utf8)))
        let signature = Base64.encode(key.sign(Array("\(date):\(digest):\(target)".utf8)))
        let answer = server.connection.send(
            "POST", "\(target)?ckOnBehalfOf=\(behalf)&clientId=signer", "{}",
            "X-Apple-CloudKit-Request-KeyID: \(keyID)\r\n"
                + "X-Apple-CloudKit-Request-ISO8601Date: \(date)\r\n"
                + "X-Apple-CloudKit-Request-SignatureV1: \(signature)\r\n")
        guard case .answered = answer else { throw CommandFailure("no answer: \(answer)") }
        sent += 1
        try waitForLines()
    }

    /// A line is there a moment after its answer; the time of day must not move in between.
    private func waitForLines() throws {
        let deadline = Date(timeIntervalSinceNow: 60)
        while try !keepsAll() {
            guard Date() < deadline else { throw CommandFailure("a line was not kept") }
            sched_yield()
        }
    }

    private func keepsAll() throws -> Bool {
        guard let stored = try folder.requests() else { return true }
        var count = 0
        try stored.newest(RequestFilter()) { _, _ in
            count += 1
            return count < sent
        }
        return count == sent
    }

    func makeZone(_ who: String, _ zone: String = "z") throws {
        let id: [String: Any] = ["zoneID": ["zoneName": zone]]
        try ask(
            who, "private/zones/modify", ["operations": [["operationType": "create", "zone": id]]])
    }

    /// Saves a record; the tag of what it became, or of what is stored where it was a conflict.
    @discardableResult
    func save(
        _ who: String, _ name: String, tag: String? = nil, kind: String = "update",
        type: String = "Note", owner: String? = nil, device: String? = nil
    ) throws -> (tag: String?, code: String?) {
        var record: [String: Any] = [
            "recordName": name, "recordType": type, "fields": ["t": ["value": "x \(name)"]],
        ]
        if let tag { record["recordChangeTag"] = tag }
        let answer = try ask(
            who, owner == nil ? "private/records/modify" : "shared/records/modify",
            [
                "zoneID": zoneID(owner),
                "operations": [["operationType": kind, "record": record]],
            ], device: device
        ).answer
        let first = (answer["records"] as? [[String: Any]])?.first ?? answer
        let stored = first["serverRecord"] as? [String: Any]
        return (
            (stored ?? first)["recordChangeTag"] as? String, first["serverErrorCode"] as? String
        )
    }

    private func zoneID(_ owner: String?) -> [String: Any] {
        owner.map { ["zoneName": "z", "ownerRecordName": $0] } ?? ["zoneName": "z"]
    }

    /// Fetches the changes of the zone; the token to go on with, or the code of the failure.
    @discardableResult
    func fetch(
        _ who: String, _ token: String?, owner: String? = nil, device: String? = nil
    ) throws -> (token: String?, code: String?) {
        var asked: [String: Any] = ["zoneID": zoneID(owner)]
        if let token { asked["syncToken"] = token }
        let answer = try ask(
            who, owner == nil ? "private/changes/zone" : "shared/changes/zone",
            ["zones": [asked]], device: device
        ).answer
        let first = (answer["zones"] as? [[String: Any]])?.first ?? answer
        return (first["syncToken"] as? String, first["serverErrorCode"] as? String)
    }

    func userRecordName(_ who: String) throws -> String {
        try folder.users.derivedName(
            of: folder.users.find(email: "\(who)@a.example"), in: container
        ).text
    }

    /// Has Ann share the whole of a record to Bob by a link, and Bob accept.
    func shareToBob(permission: String = "READ_WRITE") throws {
        let made = try ask(
            "ann", "private/records/modify",
            [
                "zoneID": zoneID(nil), "atomic": true,
                "operations": [
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": "root", "recordType": "Note",
                            "fields": ["t": ["value": "r"]], "createShortGUID": true,
                        ] as [String: Any],
                    ] as [String: Any],
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": "share", "recordType": "cloudkit.share",
                            "fields": ["cloudkit.title": ["value": "T"]],
                            "forRecord": ["recordName": "root"], "publicPermission": permission,
                        ] as [String: Any],
                    ] as [String: Any],
                ],
            ]
        ).answer
        let records = try #require(made["records"] as? [[String: Any]], "\(made)")
        let link = try #require(records[0]["shortGUID"] as? String, "\(made)")
        let answer = try ask(
            "bob", "public/records/accept", ["shortGUIDs": [["value": link]]]
        ).answer
        #expect(answer["results"] != nil, "\(answer)")
    }

    func report(_ who: String) throws -> SyncReport {
        let administrator = Administrator(.commandLine(userNumber: 1), on: folder)
        return try administrator.perform(
            ExplainSync("\(who)@a.example", in: NamedEnvironment("iCloud.a", environment)))
    }

    /// Expects these causes and no others, and that the first line names each.
    func expect(
        _ who: String, _ kinds: [SyncCause.Kind], _ words: String...,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let report = try report(who)
        #expect(
            report.causes.map(\.kind) == kinds, "\(report.firstLine)", sourceLocation: location)
        for word in words {
            #expect(
                report.firstLine.contains(word), "\(report.firstLine)", sourceLocation: location)
        }
        for cause in report.causes {
            #expect(report.firstLine.contains(cause.problem), sourceLocation: location)
            #expect(report.firstLine.contains(cause.remedy), sourceLocation: location)
        }
    }
}
