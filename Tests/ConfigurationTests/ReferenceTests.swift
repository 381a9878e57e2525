import Foundation
import Testing

@testable import Configuration

@Suite("Reference")
struct ReferenceTests {
    @Test("The file in the repository is what `config reference` prints")
    func committed() throws {
        let repository = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = repository.appending(path: "config/lenticular.json5")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(
            text == ServerConfiguration.reference,
            "run: lenticular config reference > config/lenticular.json5")
    }

    @Test("There are at most 110 settings, and their reference is read in five minutes")
    func size() {
        #expect(Setting.sections.flatMap(\.settings).count <= 110)
        var words = 0
        for line in ServerConfiguration.reference.split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.first == "//", !parts[1].hasPrefix("LENTICULAR_") else { continue }
            words += parts.count - 1
        }
        // By the 400 words a minute of who looks for something.
        #expect(words <= 2_000)
    }

    @Test("The reference loads to the defaults")
    func loads() throws {
        #expect(try load(ServerConfiguration.reference) == ServerConfiguration())
    }

    @Test("The reference has every setting with its default, variable and explanation")
    func complete() throws {
        let words = ServerConfiguration.reference.split(whereSeparator: \.isWhitespace)
            .filter { $0 != "//" }.joined(separator: " ")
        for setting in Setting.sections.flatMap(\.settings) {
            #expect(
                words.contains("\(setting.key): \(setting.written(of: ServerConfiguration())),"))
            #expect(words.contains(" \(setting.environmentName) \(setting.key): "))
            #expect(
                words.contains(setting.documentation + setting.form))
            #expect(words.contains(setting.documentation))
        }
        for line in ServerConfiguration.reference.split(separator: "\n") {
            #expect(line.count <= 100)
        }
    }
}
