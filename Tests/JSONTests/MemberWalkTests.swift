import JSON
import Seeding
import Testing

@Suite("Going along an object's members")
struct MemberWalkTests {
    /// The members of the object that a text begins with, as a walk finds them.
    private func members(
        _ text: [UInt8], knowing known: Range<Int>? = nil
    ) throws -> [(key: [UInt8], value: [UInt8])] {
        try text.withUnsafeBytes { bytes in
            var walk = try JSONMemberWalk(bytes, knowing: known)
            var found: [(key: [UInt8], value: [UInt8])] = []
            while let member = try walk.next() {
                found.append(([UInt8](bytes[member.key]), [UInt8](bytes[member.value])))
            }
            return found
        }
    }

    private func text(of value: JSONValue) -> [UInt8] { value.withRawBytes { [UInt8]($0) } }

    /// A random value, now and then with space between its tokens.
    private func value(_ random: inout SeededRandom, depth: Int = 0) -> String {
        let space = ["", "", " ", "\n\t"].randomElement(using: &random) ?? ""
        let strings = [
            "\"\"", "\"plain\"", "\"longer than a word of eight\"", "\"\\\"\"", "\"\\\\\"",
            "\"{[,:]}\"", "\"\\u00e9 é 😀 \\\\\\\" }\"", "\"1234567\"", "\"12345678\\\\\"",
        ]
        let plain = strings + ["0", "-12.5e3", "true", "false", "null", "9007199254740993"]
        switch depth < 4 ? Int.random(in: 0..<4, using: &random) : 0 {
        case 1:
            let elements = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                value(&random, depth: depth + 1)
            }
            return "[" + space + elements.joined(separator: "," + space) + "]"
        case 2, 3:
            let members = (0..<Int.random(in: 0...4, using: &random)).map {
                "\"k\($0)\"" + space + ":" + value(&random, depth: depth + 1) + space
            }
            return "{" + space + members.joined(separator: ",") + space + "}"
        default: return plain.randomElement(using: &random) ?? ""
        }
    }

    @Test("It finds what parsing finds, also where it is told where a value is")
    func sameAsParsing() throws {
        var random = SeededRandom("member walk")
        for _ in 0..<5_000 {
            let object = "{\"a\":\(value(&random)), \"b\" :\(value(&random))}"
            let bytes = Array(object.utf8)
            let parsed = try JSONDocument(parsing: bytes).root.members.map {
                (Array(text(of: $0.key).dropFirst().dropLast()), text(of: $0.value))
            }
            let found = try members(bytes)
            #expect(found.map(\.key) == parsed.map(\.0), "seed \(random.seed): \(object)")
            #expect(found.map(\.value) == parsed.map(\.1), "seed \(random.seed): \(object)")
            let first = 5..<5 + (found.first?.value.count ?? 0)
            #expect(try members(bytes, knowing: first).map(\.value) == found.map(\.value))
        }
    }

    @Test("A member is found by its key, and only as a whole")
    func byKey() throws {
        let text = Array("{\"ab\":1,\"a\":{\"b\":2},\"b\":\"INT64\"}".utf8)
        try text.withUnsafeBytes { bytes in
            var walk = try JSONMemberWalk(bytes)
            let object = try walk.value(of: "a")
            #expect(object == 12..<19)
            let type = try #require(try walk.value(of: "b"))
            #expect(walk.isString("INT64", at: type) && !walk.isString("INT6", at: type))
            var inner = try JSONMemberWalk(bytes, objectAt: 12)
            #expect(try inner.value(of: "b") == 17..<18)
            #expect(try inner.value(of: "b") == nil)
        }
    }

    @Test("Bytes that are no JSON end it with an error or with nothing, and never trap")
    func anyBytes() {
        var random = SeededRandom("member walk")
        for _ in 0..<20_000 {
            var bytes = Array("{\"a\":\(value(&random)),\"b\":\(value(&random))}".utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let location = Int.random(in: 0..<bytes.count, using: &random)
                if Bool.random(using: &random) {
                    bytes[location] = .random(in: 0...255, using: &random)
                } else {
                    bytes.removeSubrange(location...)
                    if bytes.isEmpty { bytes = [0x7B] }
                }
            }
            guard let found = try? members(bytes) else { continue }
            #expect(found.reduce(0) { $0 + $1.key.count + $1.value.count } <= bytes.count)
        }
        #expect(throws: JSONError.self) { try members([]) }
        #expect(throws: JSONError.self) { try members(Array("[]".utf8)) }
        #expect(throws: JSONError.self) { try members(Array("{\"a\":1".utf8)) }
        #expect(throws: JSONError.self) { try members(Array("{\"a\" 1}".utf8)) }
        #expect(throws: JSONError.self) { try members(Array("{\"a\":\"1}".utf8)) }
        #expect(throws: JSONError.self) { try members(Array("{}".utf8), knowing: 0..<9) }
    }
}
