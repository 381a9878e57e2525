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
            #expect(words.contains("Environment: \(setting.environmentName)"))
            #expect(words.contains("Expects \(setting.allowed)."))
            #expect(words.contains(setting.documentation))
        }
        for line in ServerConfiguration.reference.split(separator: "\n") {
            #expect(line.count <= 100)
        }
    }
}
