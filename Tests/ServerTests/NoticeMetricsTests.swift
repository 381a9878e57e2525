import Awaiting
import ChildProcesses
import Foundation
import Testing

@testable import Server

@Suite("Metrics of notices")
struct NoticeMetricsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func value(_ name: String, in page: String) -> Double? {
        let line = page.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        return line.flatMap { Double($0.dropFirst(name.count + 1)) }
    }

    @Test("What is told of changes is counted: queued, sent, failed, and how late it was")
    func counted() throws {
        let hook = try PostReceiver(answering: "204 No Content")
        let broken = try PostReceiver(answering: "500 Internal Server Error")
        let home = try DeliveryHome(folder.path("data"))
        try home.addWebhook(at: hook.port)
        try home.addWebhook(at: broken.port)
        try home.save("a", by: home.ann)
        _ = try hook.next()
        _ = try broken.next()
        var (page, lag) = ("", 0.0)
        // The record and its new user are told of, to each of the two. Failed attempts are made again.
        try Wait.until {
            page = try home.server.metrics()
            lag = max(lag, value("lenticular_notice_lag_seconds", in: page) ?? 0)
            return value("lenticular_notices_sent_total", in: page) == 2
                && value("lenticular_notices_failed_total", in: page) ?? 0 >= 2
        }
        #expect(value("lenticular_notices_queued_total", in: page) == 4)
        #expect(lag > 0)
    }
}
