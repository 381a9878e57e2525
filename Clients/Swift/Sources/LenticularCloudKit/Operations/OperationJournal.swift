import CloudKitStore
import CloudKitWire
import Foundation

/// The answers of one long-lived operation: those that were kept come again without a request, in their order.
final class OperationJournal: Sendable {
    private struct Answers {
        var kept: ArraySlice<(path: String, body: [UInt8])>
        var next: Int
    }

    /// The operation, in all runs of the program.
    let id: CKOperation.ID
    private let operations: StoredOperations
    private let answers: Locked<Answers>

    init(_ id: CKOperation.ID, _ operations: StoredOperations) throws {
        self.id = id
        self.operations = operations
        let kept = try operations.answers(of: id)
        answers = Locked(Answers(kept: kept[...], next: kept.count))
    }

    /// The answer that the next request got in a former run; nil where it got none.
    func answer(to path: String) -> JSONView? {
        answers.withLock { answers in
            guard let first = answers.kept.first, first.path == path,
                let view = try? JSONTape(first.body).root
            else {
                // From here on the operation goes its own way.
                answers.kept = []
                return nil
            }
            answers.kept.removeFirst()
            return view
        }
    }

    /// Keeps the answer of a request that was sent.
    func note(_ answer: JSONView, to path: String) throws {
        let number = answers.withLock { answers in
            defer { answers.next += 1 }
            return answers.next
        }
        do {
            try operations.note(
                Array(answer.text), to: path, number: number, of: id, now: Date())
        } catch {
            throw CKError(.internalError, "the operation's answer cannot be kept: \(error)")
        }
    }
}

/// The file of this device that long-lived operations and tokens are kept in.
enum DeviceStore {
    private static let opened = Result {
        try LocalStore(
            file: (FileManager.default.urls(
                for: .applicationSupportDirectory, in: .userDomainMask
            ).first ?? FileManager.default.temporaryDirectory)
            .appendingPathComponent("lenticular-client/store.sqlite"))
    }

    /// - Throws: `CKError` when the file cannot be used.
    static func store() throws -> LocalStore {
        do {
            return try opened.get()
        } catch {
            throw CKError(.internalError, "this device's store cannot be opened: \(error)")
        }
    }
}
