import Awaiting
import CloudModel
import Foundation
import Network
import Storage
import Testing

@testable import Control
@testable import Server

/// Answers that wait for an index which nobody fills, over sockets.
@Suite("Answers that are held")
struct HeldAnswerTests {
    /// Does no work: whatever waits for it goes on waiting.
    private final class IdleWorker: StoreWorker {
        let isBusy = false
        func begin() {}
        func stop() {}
    }

    private let temporary: TemporaryFolder
    private let server: FolderServer
    private let query: String
    /// Keeps the store open, which would get a working worker with its next opening.
    private let store: LeasedStore

    init() throws {
        temporary = try TemporaryFolder()
        // It lets an answer wait longer than any of these tests takes.
        server = try FolderServer(data: temporary.path("data"))
        let folder = server.folder
        let container = try folder.containers.create("iCloud.a", now: 1).id
        _ = try folder.users.create(email: "ann@a.example", now: 1)
        let api = try folder.apiTokens.create(
            container: container, environment: .development, now: 1)
        let web = try folder.webTokens.create(
            container: container, environment: .development, email: "ann@a.example",
            seconds: 3_600, now: folder.clock.now())
        query = "?ckAPIToken=\(api.token)&ckWebAuthToken=\(web.token)"
        store = try folder.stores.store(of: container, in: .development)
        let saved = try server.ask(
            target("records/modify"),
            [
                "operations": [
                    [
                        "operationType": "create",
                        "record": [
                            "recordType": "Note", "recordName": "n",
                            "fields": ["t": ["value": "x"]],
                        ] as [String: Any],
                    ] as [String: Any]
                ]
            ])
        try #require(saved.status == 200)
        store.attach(IdleWorker())
    }

    private func target(_ path: String) -> String {
        "/database/1/iCloud.a/development/private/\(path)\(query)"
    }

    /// Asks on a connection of its own for what needs the index.
    private func ask() throws -> LocalSocket {
        let address = try #require(server.server.addresses.first).description
        let socket = try HealthProbe(address: #require(ListenAddress(address))).connect()
        socket.setDeadline(seconds: Wait.seconds)
        let body = #"{"query":{"recordType":"Note","sortBy":[{"fieldName":"t"}]}}"#
        try socket.sendAll(
            Array(
                ("POST \(target("records/query")) HTTP/1.1\r\nHost: a\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8))
        return socket
    }

    /// As the metrics have it.
    private var heldCount: Int {
        let page = String(decoding: server.server.metrics.page(), as: UTF8.self)
        let line = page.split(separator: "\n").first { $0.hasPrefix("lenticular_requests_held ") }
        return line.flatMap { Int($0.split(separator: " ")[1]) } ?? -1
    }

    /// Waits for the index; the store's own followers wait for other things, from a moment of their choice.
    private var waitCount: Int { store.notices.waitCount(for: .indexes) }

    @Test("A drain sends all that is held at once, and does not wait for what it waited for")
    func drain() throws {
        let sockets = try (0..<5).map { _ in try ask() }
        try Wait.until { heldCount == 5 }
        #expect(waitCount > 0)
        let start = Date()
        server.stop(withinSeconds: 300)
        for socket in sockets {
            let answer = String(decoding: try socket.receiveToEnd(bytesMax: 65_536), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 503 "), "\(answer)")
            #expect(answer.contains("TRY_AGAIN_LATER"))
        }
        // Held on, they would have waited for ten minutes, and the drain for five of them.
        #expect(Date().timeIntervalSince(start) < 150)
        #expect(waitCount == 0)
    }

    @Test("Who hangs up while their answer is held leaves nothing behind")
    func abandonment() throws {
        defer { server.stop() }
        var sockets = try (0..<5).map { _ in try ask() }
        try Wait.until { heldCount == 5 }
        #expect(waitCount > 0)
        let last = sockets.removeLast()
        sockets = []
        try Wait.until { heldCount == 1 }
        try Wait.until { waitCount == 1 }
        // Who stays is answered when the index is whole, and nobody is answered twice.
        store.attach(WorkOnce(store))
        let answer = String(
            decoding: try last.receive(until: "\"recordName\":\"n\""), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK"))
        try Wait.until { heldCount == 0 && waitCount == 0 }
    }

    /// Fills the index, once it is attached.
    private final class WorkOnce: StoreWorker {
        private let store: LeasedStore
        let isBusy = false

        init(_ store: LeasedStore) { self.store = store }

        func begin() {
            store.write(WriteLoad(cost: 1)) { transaction in
                var turn = WorkTurn(WorkHolder(1), [.maintenance])
                while let work = try transaction.takeWork(&turn) {
                    guard case .maintenance(let maintenance) = work.task else { continue }
                    while try transaction.maintain(maintenance, step: 100) {}
                    try transaction.finish(work)
                }
            } completion: { _ in
            }
        }

        func stop() {}
    }
}

extension LocalSocket {
    /// What has come until a text is among it; the test fails when it does not come.
    fileprivate func receive(until text: String) throws -> [UInt8] {
        var found: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while !String(decoding: found, as: UTF8.self).contains(text) {
            let count = recv(descriptor, &piece, piece.count, 0)
            try #require(count > 0, "the answer ended: \(String(decoding: found, as: UTF8.self))")
            found += piece[..<count]
        }
        return found
    }
}
