import Accounts
import Audit
import CloudModel
import Foundation
import Testing

@testable import Server

@Suite("Sign-ins that come to nothing")
struct FailedSignInTests {
    private let folder: TemporaryFolder
    private let sink = OperatingLogTests.Sink()
    private let audit: AuditLog
    private let failed: FailedSignIns
    private let log: Log
    private let metrics = Metrics(version: "1", startedAt: 0)

    init() throws {
        folder = try TemporaryFolder()
        audit = try AuditLog(path: folder.path("audit.log"))
        failed = FailedSignIns(audit: audit)
        log = Log(format: .json, descriptor: sink.descriptor, clock: Clock { 7_200_000 })
        failed.observe(by: log, in: metrics)
    }

    private func entries() throws -> [AuditEntry] {
        try AuditPage(of: folder.path("audit.log"), since: 0, limit: 10_000).entries
    }

    private var count: String {
        let page = String(decoding: metrics.page(), as: UTF8.self)
        let line = page.split(separator: "\n").first {
            $0.hasPrefix("lenticular_sign_ins_failed_total")
        }
        return String(line?.split(separator: " ").last ?? "")
    }

    @Test(
        "Each is a line with the client's address, counted, and noted in the audit log without it")
    func noted() throws {
        failed.note(
            SignInFailure(.password, of: AccountID("a1"), from: "192.0.2.7", at: 7_200_000))
        failed.note(
            SignInFailure(.code, of: nil, from: nil, isHeldBack: true, at: 7_200_000))
        log.flush(withinSeconds: 60)
        let lines = sink.lines()
        #expect(lines.count == 2)
        #expect(
            lines[0].hasSuffix(
                #""message":"sign-in failed","way":"password","client":"192.0.2.7","heldBack":false}"#
            ))
        #expect(lines[1].contains(#""client":"unknown","heldBack":true"#))
        #expect(count == "2")
        let entries = try entries()
        #expect(entries.map(\.what) == ["sign-in failed"])
        #expect(entries[0].account == "a1" && entries[0].detail == "password")
        #expect(entries[0].who == "somebody")
    }

    @Test("Of more than an hour may have in the audit log, the number is noted in a later one")
    func many() throws {
        func fail(_ count: Int, at time: Milliseconds) {
            for _ in 0..<count {
                failed.note(SignInFailure(.passkey, of: nil, from: "192.0.2.7", at: time))
            }
        }
        fail(FailedSignIns.notedPerHourMax + 5, at: 3_600_000)
        #expect(try entries().count == FailedSignIns.notedPerHourMax)
        fail(1, at: 7_200_000)
        let last = try entries().suffix(2)
        #expect(last.map(\.what) == ["further sign-ins failed", "sign-in failed"])
        #expect(last.first?.detail == "5")
        #expect(count == "\(FailedSignIns.notedPerHourMax + 6)")
    }
}
