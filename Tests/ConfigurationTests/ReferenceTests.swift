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
            text == Configuration.reference,
            "run: lenticular config reference > config/lenticular.json5")
    }

    @Test("The reference loads to the defaults")
    func loads() throws {
        #expect(try load(Configuration.reference) == Configuration())
    }

    @Test("The reference has every setting with its default, variable and explanation")
    func complete() throws {
        let words = Configuration.reference.split(whereSeparator: \.isWhitespace)
            .filter { $0 != "//" }.joined(separator: " ")
        for setting in Setting.sections.flatMap(\.settings) {
            #expect(words.contains("\(setting.key): \(setting.written(of: Configuration())),"))
            #expect(words.contains("Environment: \(setting.environmentName)"))
            #expect(words.contains("Expects \(setting.allowed)."))
            #expect(words.contains(setting.documentation))
        }
        for line in Configuration.reference.split(separator: "\n") { #expect(line.count <= 100) }
    }
}
