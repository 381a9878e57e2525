import Foundation

/// A file of its own for one test, gone when the test lets go of it.
final class TemporaryFile {
    let path: String

    init(_ text: String) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        path = url.path
        try Data(text.utf8).write(to: url)
    }

    deinit {
        // NB: nothing is lost when the system's folder of temporary files keeps it.
        try? FileManager.default.removeItem(atPath: path)
    }
}
