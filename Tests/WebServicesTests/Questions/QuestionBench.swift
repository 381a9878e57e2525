import CloudModel
import Cryptography
import Foundation
import SQLiteStorage
import Storage
import Testing

/// A server on one store whose questions are counted.
final class QuestionBench {
    let counted: CountingStore
    let server: WireServer
    let user: WireClient
    private let store: SQLiteStore
    private let folder: URL

    init(limits change: (inout ServiceLimits) -> Void = { _ in }) throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "questions-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try SQLiteStore(
            path: folder.appending(path: "store.sqlite").path,
            options: SQLiteStore.Options(
                clock: Clock { 1_767_225_600_000 }, random: { RandomSource.system.bytes($0) }),
            onIndeterminate: { _ in })
        counted = CountingStore(store)
        server = try WireServer(storage: counted, limits: change)
        user = try server.user("ann")
        try user.make("Shelf")
    }

    deinit {
        store.close()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Saves notes, each below one of twenty folders.
    func save(_ numbers: Range<Int>) throws -> Answer {
        try user.modify(
            numbers.map { number in
                operation(
                    "forceReplace", "note\(number)", type: "Note",
                    fields: "{\"n\":{\"value\":\(number)}}",
                    more: "\"parent\":{\"recordName\":\"folder\(number % 20)\"}")
            })
    }

    /// What a request asks; from now on, what is queued behind requests is left undone, which asks, too.
    func asked(_ request: () throws -> Answer) throws -> [String] {
        AttachedWork.stop(of: counted)
        // A step that had begun is over behind this.
        try counted.writeAndWait { _ in }
        counted.questions.forget()
        let answer = try request()
        #expect(answer.status == 200, "\(answer.text)")
        #expect(!answer.text.contains("serverErrorCode"), "\(answer.text)")
        return counted.questions.all
    }
}
