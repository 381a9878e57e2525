import Awaiting
import Foundation
import SQLite
import Testing

@Suite("Connections that end")
struct EndingTests {
    /// What one thread lets go of.
    private final class Holder: @unchecked Sendable {
        // Unchecked: one thread at a time has it.
        private var statements: [Statement]

        init(_ statements: [Statement]) { self.statements = statements }

        func letGo() { statements.removeAll() }
    }

    @Test("Statements may be let go of on one thread while their connection goes on another")
    func together() throws {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "ending-\(UUID().uuidString).sqlite").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try Connection(path: path, mode: .readWrite)
        for _ in 0..<1_000 {
            var connection: Connection? = try Connection(path: path, mode: .readOnly)
            let holder = Holder(
                try (0..<8).compactMap { try connection?.prepare("SELECT \($0)") })
            let ended = Awaited<Bool>()
            Thread.detachNewThread {
                holder.letGo()
                ended.tell(true)
            }
            connection = nil
            #expect(try ended.value() && connection == nil)
        }
    }
}
