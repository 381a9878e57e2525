import Foundation

/// A folder of a test's own, removed with it.
final class TemporaryFolder: Sendable {
    let root: String

    init() throws {
        root = NSTemporaryDirectory() + "lenticular-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    func path(_ name: String) -> String { "\(root)/\(name)" }
}
