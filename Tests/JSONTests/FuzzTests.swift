import Foundation
import Seeding
import Testing

@testable import JSON

@Suite("Random texts")
struct FuzzTests {
    private static let seeds = [
        "{\"operations\":[{\"operationType\":\"update\",\"record\":{\"recordName\":\"a-1\",\"fields\":"
            + "{\"title\":{\"value\":\"Caf\\u00e9 \\\"x\\\"\",\"type\":\"STRING\"},\"n\":{\"value\":-12.5e3}}}}]}",
        "[1,-0,0.5,1e10,9223372036854775807,-9223372036854775808,1E-5,[],{},[[]],{\"a\":{}}]",
        "[\"\\uD83D\\uDE00\",\"日本語😀é\",\"\\b\\f\\n\\r\\t\\/\\\\\",\"plain ascii text of some length\"]",
        "{\"a\":true,\"b\":false,\"c\":null,\"\":\"\",\"d\\u0000\":[ 1 , 2 ]}",
    ]
    private static let pieces: [[UInt8]] = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "D83D", "\\uDC00", "e", "-", ".", "0", "1",
        "true", "null", " ", "\n", "\"a\":", "[[[[", "é", "\u{FEFF}", "1e999", "\"\"",
    ].map { Array($0.utf8) }

    /// A seed text with a few random changes.
    private func mutant(_ random: inout SeededRandom) -> [UInt8] {
        var bytes = Array((Self.seeds.randomElement(using: &random) ?? "").utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let location = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, location + Int.random(in: 0...6, using: &random))
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes.removeSubrange(location..<end)
            case 1: bytes.insert(contentsOf: bytes[location..<end], at: location)
            case 2:
                bytes.insert(
                    contentsOf: Self.pieces.randomElement(using: &random) ?? [], at: location)
            case 3 where location < bytes.count:
                bytes[location] = .random(in: 0...255, using: &random)
            default: bytes.removeSubrange(min(bytes.count, location + 20)...)
            }
        }
        return bytes
    }

    @Test("Nothing traps; what is taken Foundation takes too, and it can be rewritten")
    func mutants() throws {
        var random = SeededRandom("fuzz")
        var taken = 0
        for _ in 0..<20_000 {
            let bytes = mutant(&random)
            guard let document = try? JSONDocument(parsing: bytes) else { continue }
            taken += 1
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(String(validating: bytes, as: UTF8.self) != nil, "seed \(random.seed)")
            // Foundation refuses numbers beyond its own types; the grammar does not.
            if !hasHugeNumber(document.root) {
                #expect(isTakenByFoundation(bytes), "seed \(random.seed): \(text)")
            }
            let again = try JSONDocument(parsing: rewritten(document.root))
            #expect(isSame(document.root, again.root), "seed \(random.seed): \(text)")
        }
        #expect(taken > 500)
    }

    @Test("Random bytes do not trap")
    func noise() {
        var random = SeededRandom("fuzz")
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? UInt8.random(in: 0...255, using: &random)
                    : Array("{}[]\",:\\u0123e-+.".utf8).randomElement(using: &random) ?? 0
            }
            if let document = try? JSONDocument(parsing: bytes) {
                #expect(!rewritten(document.root).isEmpty)
            }
        }
    }

    private func isTakenByFoundation(_ bytes: [UInt8]) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
    }

    private func hasHugeNumber(_ value: JSONValue) -> Bool {
        if value.kind == .number {
            guard let double = value.double else { return true }
            return double == 0 && value.withRawBytes { $0.contains { 0x31...0x39 ~= $0 } }
        }
        return value.elements.contains(where: hasHugeNumber)
            || value.members.contains { hasHugeNumber($0.value) }
    }
}
